(** Frustrated cores: trees over variables, whose leaves name clauses that their paths break.

    Every state reaches one leaf of a core, so it pays the cost of the core there. A core charges a
    clause the most that one of its leaves does, and the charges of all cores must fit into the
    weight of the clause. So no state pays for two cores with the same weight. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement Polynomials Trie.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

(** The nodes of a tree in prefix order. Clauses count from 1, the soft ones first. *)
Inductive node :=
| Fork (v : Z)                        (* the half where v is false follows, then the one where v is true *)
| Whole (k : Z)                       (* a leaf: the clause k pays the whole cost, or is a hard clause *)
| Shared (amounts : list (Z * Z)).    (* a leaf: soft clauses, ascending, pay these amounts *)

Definition core := (Z * list node)%type.   (* the cost, and the tree *)

(** A soft clause, the weight that is left of it, the number of the core that charged it last, and
    what that core charged. *)
Record budget := { clause : list Z; left : Z; payer : Z; charged : Z }.

Definition charge (i : Z) (e : budget) : Z := if payer e =? i then charged e else 0.

(** Whether all literals are false in the states on a path. *)
Definition falsified (path : trie bool) (literals : list Z) : bool :=
  forallb (fun l => match at_number (Z.abs l) path with
                    | Some b => Bool.eqb b (l <? 0)
                    | None => false
                    end) literals.

(** The core number i charges the clause k at least an amount. *)
Definition pay (i : Z) (path : trie bool) (k amount : Z) (t : trie budget) : option (trie budget) :=
  match at_number k t with
  | Some e =>
      let more := Z.max 0 (amount - charge i e) in
      if falsified path (clause e) && (0 <? amount) && (more <=? left e)
      then Some (set (Z.to_pos k) {| clause := clause e; left := left e - more; payer := i;
                                     charged := charge i e + more |} t)
      else None
  | None => None
  end.

Fixpoint pay_all (i : Z) (path : trie bool) (before : Z) (amounts : list (Z * Z)) (t : trie budget)
    : option (trie budget) :=
  match amounts with
  | [] => Some t
  | (k, amount) :: rest =>
      if before <? k
      then match pay i path k amount t with Some t' => pay_all i path k rest t' | None => None end
      else None
  end.

Section Trees.
Variable size : Z.               (* variables are at most this *)
Variable hard : trie (list Z).   (* the hard clauses by their numbers *)

Definition pay_at_leaf (i cost : Z) (path : trie bool) (leaf : node) (t : trie budget)
    : option (trie budget) :=
  match leaf with
  | Fork _ => None
  | Whole k =>
      match at_number k hard with
      | Some literals => if falsified path literals then Some t else None
      | None => pay i path k cost t
      end
  | Shared amounts => if cost <=? total snd amounts then pay_all i path 0 amounts t else None
  end.

(** Paths wait for their subtrees. *)
Fixpoint run (i cost : Z) (nodes : list node) (waiting : list (trie bool)) (t : trie budget)
    : option (trie budget) :=
  match nodes, waiting with
  | [], [] => Some t
  | Fork (Zpos p) :: rest, path :: others =>
      match get p path with
      | None =>
          if Zpos p <=? size
          then run i cost rest (set p false path :: set p true path :: others) t else None
      | Some _ => None
      end
  | leaf :: rest, path :: others =>
      match pay_at_leaf i cost path leaf t with Some t' => run i cost rest others t' | None => None end
  | _, _ => None
  end.

(** The sum of the costs of all cores, the first of which has the number i. *)
Fixpoint costs (i : Z) (cores : list core) (t : trie budget) (sum : Z) : option Z :=
  match cores with
  | [] => Some sum
  | (cost, nodes) :: rest =>
      if 0 <? cost
      then match run i cost nodes [Bare] t with
           | Some t' => costs (i + 1) rest t' (sum + cost)
           | None => None
           end
      else None
  end.

End Trees.

(** A soft clause that no core has charged yet. *)
Definition opened (over : Z) (c : Z * list Z) : budget :=
  {| clause := snd c; left := over * fst c; payer := 0; charged := 0 |}.

(** What every state that keeps the hard clauses pays at least, times the denominator. *)
Definition cost_of_cores (size over : Z) (soft : list (Z * list Z)) (hard : list (list Z))
    (cores : list core) : option Z :=
  if forallb (fun c => 0 <=? fst c) soft
  then
    let budgets := numbered 1 (rev_append (fold_left (fun l c => opened over c :: l) soft []) []) Bare in
    costs size (numbered (1 + total (fun _ => 1) soft) hard Bare) 1 cores budgets 0
  else None.

(** ** What a state pays *)

(** All weight that is left of the clauses a state breaks, or what the core i charges. *)
Definition paid (s : state) (f : budget -> Z) (t : trie budget) : Z :=
  sum_of (fun e => if broken s (clause e) then f e else 0) t.

Definition sound (i : Z) (e : budget) : Prop := 0 <= left e /\ 0 <= charged e /\ payer e <= i.

Lemma charge_nonnegative i j e : sound j e -> 0 <= charge i e.
Proof. unfold sound, charge; destruct (_ =? _); lia. Qed.

Lemma paid_nonnegative s f t : every (fun e => 0 <= f e) t -> 0 <= paid s f t.
Proof.
  intros H; apply sum_nonnegative; intros p e E; specialize (H p e E); simpl in *.
  destruct (broken _ _); lia.
Qed.

(** ** Payments of one core *)

Definition agrees (s : state) (path : trie bool) : Prop := forall p b, get p path = Some b -> s (Zpos p) = b.

Lemma falsified_broken s path literals :
  agrees s path -> falsified path literals = true -> broken s literals = true.
Proof.
  intros H; unfold falsified, broken; rewrite !forallb_forall; intros F l Hl; specialize (F l Hl).
  unfold at_number, holds in *; destruct l as [| p | p]; simpl in *; [discriminate | |];
    destruct (get p path) as [b |] eqn:E; try discriminate; rewrite (H p b E);
    destruct b; simpl in *; congruence.
Qed.

(** What payments keep: all that a state pays, and that no core charges less than before. *)
Definition keeps (i : Z) (t t' : trie budget) : Prop :=
  every (sound i) t'
  /\ (forall s, paid s left t' + paid s (charge i) t' = paid s left t + paid s (charge i) t)
  /\ (forall s, paid s (charge i) t <= paid s (charge i) t')
  /\ (forall p e, get p t = Some e ->
        exists e', get p t' = Some e' /\ clause e' = clause e /\ charge i e <= charge i e').

Lemma keeps_nothing i t : every (sound i) t -> keeps i t t.
Proof.
  intros H; refine (conj H (conj _ (conj _ _))); [reflexivity | intros; lia |].
  intros p e E; exists e; repeat split; auto; lia.
Qed.

Lemma keeps_both i t u v : keeps i t u -> keeps i u v -> keeps i t v.
Proof.
  intros (_ & A & B & C) (H & A' & B' & C'); refine (conj H (conj _ (conj _ _))).
  - intros s; rewrite A', A; reflexivity.
  - intros s; specialize (B s); specialize (B' s); lia.
  - intros p e E; destruct (C p e E) as (e' & E' & L & M), (C' p e' E') as (e'' & E'' & L' & M').
    exists e''; repeat split; auto; [congruence | lia].
Qed.

Lemma pay_keeps i path k amount t t' :
  every (sound i) t -> pay i path k amount t = Some t' -> keeps i t t'.
Proof.
  intros H; unfold pay, at_number; destruct k as [| p | p]; try discriminate.
  destruct (get p t) as [e |] eqn:E; [| discriminate].
  set (more := Z.max 0 (amount - charge i e)).
  destruct (falsified _ _ && _) eqn:F; [| discriminate]; simpl.
  destruct (Z.leb_spec more (left e)) as [M |]; [| discriminate]; simpl; intros [= <-].
  pose proof (H p e E) as S; pose proof (charge_nonnegative i i e S) as P; unfold sound in S.
  assert (Q : 0 <= more) by (unfold more; lia).
  set (e' := {| clause := _ |}).
  assert (C : charge i e' = charge i e + more) by (unfold charge at 1; simpl; rewrite Z.eqb_refl; reflexivity).
  refine (conj _ (conj _ (conj _ _))).
  - apply every_set; [unfold sound; simpl; lia | exact H].
  - intros s; unfold paid; rewrite !sum_set, E, C; simpl; destruct (broken s (clause e)); lia.
  - intros s; unfold paid; rewrite !sum_set, E, C; simpl; destruct (broken s (clause e)); lia.
  - intros q y Y; destruct (Pos.eq_dec q p) as [-> | N].
    + rewrite get_set; exists e'; rewrite C; assert (y = e) by congruence; subst y; repeat split; lia.
    + rewrite get_set_other by exact N; exists y; repeat split; auto; lia.
Qed.

(** A clause that a state breaks pays at least an amount. *)
Definition pays (s : state) (i : Z) (t : trie budget) (x : Z * Z) : Prop :=
  exists p e, fst x = Zpos p /\ get p t = Some e /\ broken s (clause e) = true /\ snd x <= charge i e.

Lemma pay_pays s i path k amount t t' :
  agrees s path -> pay i path k amount t = Some t' -> pays s i t' (k, amount).
Proof.
  intros Ha; unfold pay, at_number; destruct k as [| p | p]; try discriminate.
  destruct (get p t) as [e |] eqn:E; [| discriminate].
  destruct (falsified _ _) eqn:F; [| discriminate]; simpl.
  destruct (_ && _); [| discriminate]; intros [= <-].
  exists p; eexists; split; [reflexivity |]; rewrite get_set; split; [reflexivity |].
  split; [apply (falsified_broken s path); auto |].
  unfold charge at 1; simpl; rewrite Z.eqb_refl; lia.
Qed.

Lemma pays_keeps s i t t' x : keeps i t t' -> pays s i t x -> pays s i t' x.
Proof.
  intros (_ & _ & _ & K) (p & e & A & B & C & D); destruct (K p e B) as (e' & E & F & G).
  exists p, e'; rewrite F; repeat split; auto; lia.
Qed.

(** Amounts of different clauses add up. *)
Lemma pays_total s i t l :
  every (fun e => 0 <= charge i e) t -> NoDup (map fst l) -> Forall (pays s i t) l ->
  total snd l <= paid s (charge i) t.
Proof.
  revert t; induction l as [| x l IH]; intros t Ht D H; [apply paid_nonnegative, Ht |].
  inversion_clear D as [| ? ? Dx Dl]; inversion_clear H as [| ? ? Hx Hl].
  destruct Hx as (p & e & Hp & He & Hb & Ha); rewrite total_cons.
  set (e' := {| clause := clause e; left := left e; payer := payer e; charged := 0 |}).
  assert (C : charge i e' = 0) by (unfold charge; simpl; destruct (_ =? _); reflexivity).
  specialize (IH (set p e' t)); unfold paid in IH at 1; rewrite sum_set, He, C in IH; simpl in IH.
  rewrite Hb in IH; unfold paid.
  enough (total snd l <= sum_of (fun e => if broken s (clause e) then charge i e else 0) t - charge i e + 0)
    by lia.
  apply IH; auto.
  - apply every_set; [lia | exact Ht].
  - rewrite Forall_forall in *; intros y Hy; destruct (Hl y Hy) as (q & f & Hq & Hf & Hc & Hd).
    exists q, f; rewrite get_set_other; auto; intros ->; apply Dx; rewrite Hp, <- Hq; apply in_map, Hy.
Qed.

Lemma pay_all_keeps i path before l t t' :
  every (sound i) t -> pay_all i path before l t = Some t' ->
  keeps i t t' /\ NoDup (map fst l) /\ Forall (fun k => before < k) (map fst l)
  /\ forall s, agrees s path -> Forall (pays s i t') l.
Proof.
  revert before t; induction l as [| [k amount] l IH]; intros before t H; simpl.
  - intros [= <-]; split; [apply keeps_nothing, H |]; repeat constructor.
  - destruct (Z.ltb_spec before k) as [B |]; [| discriminate].
    destruct (pay i path k amount t) as [u |] eqn:E; [| discriminate].
    pose proof (pay_keeps _ _ _ _ _ _ H E) as K; intros L.
    destruct (IH k u (proj1 K) L) as (K' & D & A & P).
    split; [eapply keeps_both; eauto |]; split; [constructor; auto |]; [| split].
    + rewrite Forall_forall in A; intros I; specialize (A k I); lia.
    + constructor; auto; eapply Forall_impl; [| exact A]; intros; simpl in *; lia.
    + intros s Hs; constructor; auto; eapply pays_keeps; [exact K' | eapply pay_pays; eauto].
Qed.

(** ** Trees *)

Section Proof.
Variable size : Z.
Variable hard : trie (list Z).
Variable s : state.
Hypothesis hard_hold : forall p literals, get p hard = Some literals -> broken s literals = false.

Lemma pay_at_leaf_pays i cost path leaf t t' :
  every (sound i) t -> pay_at_leaf hard i cost path leaf t = Some t' ->
  keeps i t t' /\ (agrees s path -> cost <= paid s (charge i) t').
Proof.
  intros H; destruct leaf as [v | k | amounts]; simpl; [discriminate | |].
  - destruct (at_number k hard) as [literals |] eqn:E.
    + destruct (falsified _ _) eqn:F; [| discriminate]; intros [= <-].
      split; [apply keeps_nothing, H |]; intros A.
      apply (falsified_broken s) in F; auto; destruct k as [| p |]; try discriminate.
      rewrite (hard_hold p literals E) in F; discriminate.
    + intros P; pose proof (pay_keeps _ _ _ _ _ _ H P) as K; split; [exact K |]; intros A.
      replace cost with (total snd [(k, cost)]) by (rewrite total_cons, total_nil; simpl; lia).
      apply pays_total; [intros p e Q; eapply charge_nonnegative, (proj1 K p e Q) | |].
      * simpl; constructor; [intros [] | constructor].
      * constructor; [eapply pay_pays; eauto | constructor].
  - destruct (Z.leb_spec cost (total snd amounts)) as [C |]; [| discriminate]; intros P.
    destruct (pay_all_keeps _ _ _ _ _ _ H P) as (K & D & _ & F); split; [exact K |]; intros A.
    eapply Z.le_trans; [exact C |]; apply pays_total; auto.
    intros p e Q; eapply charge_nonnegative, (proj1 K p e Q).
Qed.

Lemma agrees_fork path p : agrees s path -> agrees s (set p (s (Zpos p)) path).
Proof.
  intros H q b; destruct (Pos.eq_dec q p) as [-> | N]; [rewrite get_set; congruence |].
  rewrite get_set_other by exact N; apply H.
Qed.

(** The state has paid already, or one of the paths that wait leads to it. *)
Lemma run_pays i cost nodes waiting t t' :
  every (sound i) t -> run size hard i cost nodes waiting t = Some t' ->
  cost <= paid s (charge i) t \/ (exists path, In path waiting /\ agrees s path) ->
  keeps i t t' /\ cost <= paid s (charge i) t'.
Proof.
  revert waiting t; induction nodes as [| x rest IH]; intros [| path others] t H; simpl;
    try (destruct x as [[] | |]; discriminate); try discriminate.
  - intros [= <-] [P | (path & [] & _)]; split; auto using keeps_nothing.
  - assert (L : forall leaf,
        match pay_at_leaf hard i cost path leaf t with
        | Some u => run size hard i cost rest others u | None => None end = Some t' ->
        cost <= paid s (charge i) t \/ (exists path0, In path0 (path :: others) /\ agrees s path0) ->
        keeps i t t' /\ cost <= paid s (charge i) t').
    { intros leaf; destruct (pay_at_leaf _ _ _ _ _ _) as [u |] eqn:E; [| discriminate].
      destruct (pay_at_leaf_pays _ _ _ _ _ _ H E) as [K P]; intros R A.
      destruct (IH others u (proj1 K) R) as [K' P']; [| split; auto; eapply keeps_both; eauto].
      destruct A as [A | (q & [<- | I] & A)]; [left | left; auto | right; exists q; auto].
      destruct K as (_ & _ & M & _); specialize (M s); lia. }
    destruct x as [[| p | p] | k | amounts]; try apply L; clear L.
    destruct (get p path); [discriminate |]; destruct (_ <=? size); [| discriminate].
    intros R A; apply (IH _ _ H R); destruct A as [A | (q & [<- | I] & A)]; [left; auto | right..].
    + exists (set p (s (Zpos p)) path); split; [| apply agrees_fork, A].
      destruct (s (Zpos p)); simpl; auto.
    + exists q; simpl; auto.
Qed.

Lemma paid_nothing_yet i t : every (sound (i - 1)) t -> paid s (charge i) t = 0.
Proof.
  intros H; assert (N : every (fun e => charge i e = 0) t).
  { intros p e E; destruct (H p e E) as (_ & _ & P); unfold charge.
    destruct (Z.eqb_spec (payer e) i); lia. }
  enough (0 <= paid s (charge i) t /\ 0 <= - paid s (charge i) t) by lia; split.
  - apply paid_nonnegative; intros p e E; rewrite (N p e E); lia.
  - assert (M : forall f (u : trie budget), - sum_of f u = sum_of (fun e => - f e) u)
      by (intros f u; induction u as [| l L [e |] r R]; simpl; lia).
    unfold paid; rewrite M; apply sum_nonnegative; intros p e E; rewrite (N p e E).
    destruct (broken _ _); lia.
Qed.

Lemma costs_are_paid i cores t sum low :
  every (sound (i - 1)) t -> costs size hard i cores t sum = Some low -> low <= sum + paid s left t.
Proof.
  revert i t sum; induction cores as [| [cost nodes] rest IH]; intros i t sum H; simpl.
  - intros [= <-]; pose proof (paid_nonnegative s left t (fun p e E => proj1 (H p e E))). lia.
  - destruct (0 <? cost); [| discriminate].
    destruct (run _ _ _ _ _ _ _) as [u |] eqn:E; [| discriminate]; intros C.
    assert (S : every (sound i) t) by (intros p e Q; destruct (H p e Q) as (? & ? & ?); repeat split; auto; lia).
    destruct (run_pays _ _ _ _ _ _ S E) as ((S' & K & _) & P).
    { right; exists Bare; split; [left; reflexivity |].
      intros []; discriminate. }
    specialize (IH (i + 1) u (sum + cost)); replace (i + 1 - 1) with i in IH by lia.
    specialize (IH S' C); specialize (K s); rewrite (paid_nothing_yet i t H) in K; lia.
Qed.

End Proof.

(** ** All clauses *)

Lemma numbered_paid s k l t :
  Forall (fun e => 0 <= left e) l -> every (fun e => 0 <= left e) t ->
  paid s left (numbered k l t) <= paid s left t + total (fun e => if broken s (clause e) then left e else 0) l.
Proof.
  intros H; revert k t; induction H as [| y l Hy Hl IH]; intros k t Ht; simpl; [rewrite total_nil; lia |].
  rewrite total_cons; eapply Z.le_trans; [apply IH; apply every_set; auto |].
  unfold paid; rewrite sum_set; destruct (get _ t) as [e |] eqn:E; [| lia].
  pose proof (Ht _ _ E) as L; cbn beta in L; destruct (broken s (clause e)), (broken s (clause y)); lia.
Qed.

Theorem cost_of_cores_is_paid size over soft hard cores low s w :
  0 < over -> cost_of_cores size over soft hard cores = Some low ->
  value (Clauses soft hard) s = Some w -> low <= over * w.
Proof.
  unfold cost_of_cores; intros D; destruct (forallb _ soft) eqn:F; [| discriminate].
  set (l := rev_append _ []); cbn [value].
  destruct (forallb _ hard) eqn:Hh; [| discriminate]; intros C [= <-].
  assert (R : l = map (opened over) soft).
  { unfold l; rewrite rev_append_rev, app_nil_r.
    enough (forall a, fold_left (fun l c => opened over c :: l) soft a = rev (map (opened over) soft) ++ a) as ->
      by (rewrite app_nil_r; apply rev_involutive).
    clear; induction soft as [| c soft IH]; intros a; simpl; [reflexivity |].
    rewrite IH, <- app_assoc; reflexivity. }
  assert (S : Forall (sound 0) l).
  { rewrite R, Forall_forall; intros e; rewrite in_map_iff; intros (c & <- & Hc).
    rewrite forallb_forall in F; specialize (F c Hc); apply Z.leb_le in F; unfold sound; simpl; nia. }
  apply (costs_are_paid _ _ s) in C.
  - eapply Z.le_trans; [exact C |]; rewrite Z.add_0_l.
    eapply Z.le_trans; [apply numbered_paid |].
    + eapply Forall_impl; [| exact S]; intros e; unfold sound; lia.
    + apply every_bare.
    + unfold paid; simpl; rewrite R; clear; rewrite <- total_scale.
      induction soft as [| c soft IH]; simpl; rewrite ?total_nil, ?total_cons; [lia |].
      simpl; destruct (broken s (snd c)); lia.
  - apply (every_numbered (fun c => broken s c = false)); [| apply every_bare].
    rewrite Forall_forall; intros c Hc; rewrite forallb_forall in Hh; apply negb_true_iff, (Hh c Hc).
  - apply every_numbered; [exact S | apply every_bare].
Qed.
