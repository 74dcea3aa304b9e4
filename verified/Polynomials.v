(** Polynomials of spins, and spins that are tied together on a path of a search tree. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement Tree.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

(** ** Signs *)

Definition sign (x : Z) : Prop := x = 1 \/ x = -1.

Lemma spin_sign s v : sign (spin s v).
Proof. unfold spin, sign; destruct (_ || _); auto. Qed.

Lemma spin_ghost s : spin s 0 = 1.
Proof. reflexivity. Qed.

Lemma sign_square x : sign x -> x * x = 1.
Proof. intros [-> | ->]; reflexivity. Qed.

Lemma sign_times x y : sign x -> sign y -> sign (x * y).
Proof. intros [-> | ->] [-> | ->]; unfold sign; lia. Qed.

Lemma product_sign s m : sign (product s m).
Proof. induction m; simpl; [left; reflexivity | apply sign_times; auto using spin_sign]. Qed.

(** ** Sums over lists *)

Lemma total_from {A} (f : A -> Z) l a : fold_left (fun t x => t + f x) l a = a + total f l.
Proof.
  unfold total; revert a; induction l as [| x l IH]; intros a; simpl; [lia |].
  rewrite IH, (IH (0 + f x)); lia.
Qed.

Lemma total_cons {A} (f : A -> Z) x l : total f (x :: l) = f x + total f l.
Proof. unfold total at 1; simpl; rewrite total_from; lia. Qed.

Lemma total_nil {A} (f : A -> Z) : total f [] = 0.
Proof. reflexivity. Qed.

Lemma total_ext {A} (f g : A -> Z) l : (forall x, f x = g x) -> total f l = total g l.
Proof. intros H; induction l; rewrite ?total_nil, ?total_cons; congruence. Qed.

Lemma total_app {A} (f : A -> Z) k l : total f (k ++ l) = total f k + total f l.
Proof. induction k; simpl; rewrite ?total_nil, ?total_cons; lia. Qed.

Lemma total_scale {A} (f : A -> Z) k l : total (fun x => k * f x) l = k * total f l.
Proof. induction l; rewrite ?total_nil, ?total_cons; lia. Qed.

Lemma total_plus {A} (f g : A -> Z) l : total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l; rewrite ?total_nil, ?total_cons; lia. Qed.

Lemma total_divide {A} (f : A -> Z) k l : (forall x, In x l -> (k | f x)) -> (k | total f l).
Proof.
  induction l as [| x l IH]; intros H; rewrite ?total_nil, ?total_cons; [apply Z.divide_0_r |].
  apply Z.divide_add_r; [apply H; left; reflexivity | apply IH; intros; apply H; right; auto].
Qed.

Lemma total_entries f t : total (fun e => f (fst e) * snd e) (entries t) = weigh f t.
Proof.
  unfold entries; rewrite rev_append_rev, app_nil_r.
  assert (Hrev : forall l, total (fun e : monomial * Z => f (fst e) * snd e) (rev l)
                      = total (fun e => f (fst e) * snd e) l).
  { induction l as [| e l IH]; [reflexivity |].
    simpl; rewrite total_app, IH, !total_cons, total_nil; lia. }
  rewrite Hrev; clear Hrev.
  enough (H : forall l, total (fun e => f (fst e) * snd e)
                (fold_tree (fun l m c => if c =? 0 then l else (m, c) :: l) t l)
              = weigh f t + total (fun e => f (fst e) * snd e) l)
    by (rewrite H, total_nil; lia).
  induction t as [| h a IHa m c b IHb]; intros l; simpl; [lia |].
  rewrite IHb; destruct (Z.eqb_spec c 0) as [-> |]; rewrite ?total_cons, IHa; simpl; lia.
Qed.

(** ** Products of monomials: equal spins cancel *)

Definition single (v : Z) : monomial := if v =? 0 then [] else [v].

Fixpoint mul (m : monomial) : monomial -> monomial :=
  match m with
  | [] => fun n => n
  | x :: m' =>
      fix inner n :=
        match n with
        | [] => m
        | y :: n' =>
            match x ?= y with
            | Eq => mul m' n'
            | Lt => x :: mul m' n
            | Gt => y :: inner n'
            end
        end
  end.

Lemma product_single s v : product s (single v) = spin s v.
Proof.
  unfold single; destruct (Z.eqb_spec v 0); [subst; rewrite spin_ghost; reflexivity |].
  simpl; lia.
Qed.

Lemma product_app s m n : product s (m ++ n) = product s m * product s n.
Proof. induction m as [| v m IH]; simpl; [lia | rewrite IH; ring]. Qed.

Lemma product_mul s m n : product s (mul m n) = product s m * product s n.
Proof.
  revert n; induction m as [| x m IH]; intros n; [simpl; lia |].
  induction n as [| y n IHn]; [simpl; lia |].
  change (mul (x :: m) (y :: n)) with
    (match x ?= y with
     | Eq => mul m n | Lt => x :: mul m (y :: n) | Gt => y :: mul (x :: m) n end).
  destruct (x ?= y) eqn:E.
  - apply Z.compare_eq in E; subst y; rewrite IH; simpl.
    pose proof (sign_square _ (spin_sign s x)) as H.
    replace (spin s x * product s m * (spin s x * product s n))
      with ((spin s x * spin s x) * (product s m * product s n)) by ring.
    rewrite H; ring.
  - change (product s (x :: mul m (y :: n))) with (spin s x * product s (mul m (y :: n))).
    rewrite IH; simpl; ring.
  - change (product s (y :: mul (x :: m) n)) with (spin s y * product s (mul (x :: m) n)).
    rewrite IHn; simpl; ring.
Qed.

(** ** Ties *)

(** For tied vertices the root of their class, and their sign relative to it. *)
Definition ties := tree (Z * Z).

Definition follow (t : ties) (v : Z) : Z * Z :=
  match find [v] t with Some found => found | None => (v, 1) end.

Definition reduce (t : ties) (m : monomial) : monomial * Z :=
  fold_left (fun found v => let (r, x) := follow t v in
                            (mul (single r) (fst found), snd found * x)) m ([], 1).

(** Tie [a] to [b]: their spins agree for [x] = 1, and differ for [x] = -1. [None] if no state that
    obeys the ties can do that. *)
Definition join (a b x : Z) (t : ties) : option ties :=
  let (ra, xa) := follow t a in
  let (rb, xb) := follow t b in
  if ra =? rb then if xa * xb =? x then Some t else None
  else
    let y := x * xa * xb in
    let (root, other) := if ra <? rb then (ra, rb) else (rb, ra) in
    let moved := map_tree (fun _ found => if fst found =? other then (root, snd found * y) else found) t in
    Some (update (fun _ => (root, y)) [other] moved).

Definition obeys (s : state) (t : ties) : Prop :=
  all (fun m found => product s m = snd found * spin s (fst found)) t.

Lemma obeys_none s : obeys s Empty.
Proof. exact I. Qed.

Lemma follow_spin s t v r x : obeys s t -> follow t v = (r, x) -> spin s v = x * spin s r.
Proof.
  unfold follow; intros H; destruct (find [v] t) as [[r0 x0] |] eqn:E; intros [= <- <-].
  - pose proof (all_find _ _ _ _ H E) as K; simpl in K; lia.
  - lia.
Qed.

Lemma reduce_product s t m n x : obeys s t -> reduce t m = (n, x) -> product s m = x * product s n.
Proof.
  intros Ht; unfold reduce.
  enough (H : forall m n' x', fold_left
     (fun found v => let (r, x) := follow t v in (mul (single r) (fst found), snd found * x))
     m (n', x') = (n, x) -> x' * product s n' * product s m = x * product s n).
  { intros E; apply H in E; simpl in E; lia. }
  clear m; induction m as [| v m IH]; intros n' x'; simpl; [intros [= -> ->]; lia |].
  destruct (follow t v) as [r y] eqn:E; intros K; apply IH in K; simpl in K.
  rewrite product_mul, product_single in K.
  rewrite (follow_spin _ _ _ _ _ Ht E); lia.
Qed.

Lemma sign_of_factor x a b : sign a -> sign b -> a = x * b -> x = a * b.
Proof. intros [-> | ->] [-> | ->]; lia. Qed.

Lemma join_obeys s t a b x :
  obeys s t -> spin s a = x * spin s b ->
  match join a b x t with Some t' => obeys s t' | None => False end.
Proof.
  intros Ht Hab; unfold join.
  destruct (follow t a) as [ra xa] eqn:Ea, (follow t b) as [rb xb] eqn:Eb.
  apply (follow_spin s) in Ea; apply (follow_spin s) in Eb; auto.
  pose proof (spin_sign s a) as Sa; pose proof (spin_sign s b) as Sb.
  pose proof (spin_sign s ra) as Sra; pose proof (spin_sign s rb) as Srb.
  pose proof (sign_of_factor _ _ _ Sa Sra Ea) as Xa.
  pose proof (sign_of_factor _ _ _ Sb Srb Eb) as Xb.
  pose proof (sign_of_factor _ _ _ Sa Sb Hab) as X.
  destruct (Z.eqb_spec ra rb) as [-> | Hr].
  - destruct (Z.eqb_spec (xa * xb) x) as [_ | K]; [exact Ht | apply K].
    destruct Sa as [Sa | Sa], Sb as [Sb | Sb], Srb as [Sr | Sr]; rewrite Sa, Sb, Sr in *; lia.
  - set (y := x * xa * xb).
    assert (Y : spin s ra = y * spin s rb /\ spin s rb = y * spin s ra).
    { unfold y; destruct Sa as [Sa | Sa], Sb as [Sb | Sb], Sra as [Sc | Sc], Srb as [Sr | Sr];
        rewrite Sa, Sb, Sc, Sr in *; lia. }
    destruct (if ra <? rb then (ra, rb) else (rb, ra)) as [root other] eqn:E.
    assert (W : spin s other = y * spin s root).
    { destruct (ra <? rb); injection E as <- <-; apply Y. }
    apply all_update; [intros _ _; simpl; lia |].
    eapply all_map; [| exact Ht]; intros m [r z]; simpl; intros K.
    destruct (Z.eqb_spec r other) as [-> | _]; simpl; [| exact K].
    rewrite K, W; ring.
Qed.

(** ** Polynomials under ties *)

Definition put (t : ties) (m : monomial) (c : Z) (p : tree Z) : tree Z :=
  let (n, x) := reduce t m in add n (x * c) p.

Definition gather (t : ties) (p : polynomial) : tree Z :=
  fold_left (fun found e => put t (fst e) (snd e) found) p Empty.

Lemma weigh_put s t m c p :
  obeys s t -> weigh (product s) (put t m c p) = weigh (product s) p + c * product s m.
Proof.
  intros H; unfold put; destruct (reduce t m) as [n x] eqn:E.
  rewrite weigh_add, (reduce_product _ _ _ _ _ H E); ring.
Qed.

Lemma weigh_gather s t p : obeys s t -> weigh (product s) (gather t p) = energy s p.
Proof.
  intros H; unfold gather, energy.
  enough (K : forall q, weigh (product s) (fold_left (fun found e => put t (fst e) (snd e) found) p q)
    = weigh (product s) q + total (fun e => snd e * product s (fst e)) p) by apply K.
  induction p as [| [m c] p IH]; intros q; simpl; [rewrite total_nil; lia |].
  rewrite IH, total_cons, weigh_put by auto; simpl; lia.
Qed.

(** No value is lower than the constant less all other magnitudes. *)
Definition lower (p : tree Z) : Z :=
  fold_tree (fun t m c => match m with [] => t + c | _ => t - Z.abs c end) p 0.

Lemma lower_bound s p : lower p <= weigh (product s) p.
Proof.
  unfold lower.
  enough (H : forall a, fold_tree (fun t m c => match m with [] => t + c | _ => t - Z.abs c end) p a
                        <= a + weigh (product s) p) by apply (H 0).
  induction p as [| h l IHl m c r IHr]; intros a; simpl; [lia |].
  eapply Z.le_trans; [apply IHr |].
  specialize (IHl a).
  pose proof (product_sign s m) as [K | K].
  - destruct m; rewrite K; lia.
  - destruct m; [discriminate |]. rewrite K; lia.
Qed.
