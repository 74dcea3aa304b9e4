(** The checker of a problem and a certificate that have been read. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement Tree Polynomials Bricks Cover Leaves Cores.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

(** ** Every problem is a polynomial of spins

    For every state that has a value, energy = shift + scale * value. *)

Definition collect {A} (f : A -> polynomial) (l : list A) : polynomial :=
  fold_left (fun p x => rev_append (f x) p) l [].

(** The sign of the spin in 1 - x s, which is 0 if the literal holds and 2 if it is broken. *)
Definition up (l : Z) : Z := if 0 <? l then 1 else -1.

(** Four times the weight if the clause is broken, else 0. *)
Definition clause_terms (c : Z * list Z) : polynomial :=
  let (w, clause) := c in
  match clause with
  | [] => [([], 4 * w)]
  | [l] => [([], 2 * w); ([Z.abs l], - 2 * w * up l)]
  | l :: k :: _ =>
      [([], w); ([Z.abs l], - w * up l); ([Z.abs k], - w * up k); ([Z.abs l; Z.abs k], w * up l * up k)]
  end.

Definition entry_terms (e : Z * Z * Z) : polynomial :=
  let '(i, j, q) := e in
  if i =? j then [([], 2 * q); ([i], 2 * q)]
  else [([], 2 * q); ([i], 2 * q); ([j], 2 * q); ([i; j], 2 * q)].

Definition edge_terms (e : Z * Z * Z) : polynomial := let '(a, b, w) := e in [([a; b], w)].

Definition objective (p : problem) : polynomial :=
  match p with
  | Clauses soft hard =>
      let penalty := 1 + total fst soft in
      rev_append (collect clause_terms soft) (collect (fun clause => clause_terms (penalty, clause)) hard)
  | Graph edges => collect edge_terms edges
  | Qubo entries => collect entry_terms entries
  | Spins terms => terms
  end.

Definition scale (p : problem) : Z :=
  match p with Clauses _ _ => 4 | Graph _ => -2 | Qubo _ => 4 | Spins _ => 1 end.

Definition shift (p : problem) : Z := match p with Graph edges => total snd edges | _ => 0 end.

(** The weights that multipliers of loops and squares are compared with. *)
Definition unit (p : problem) : Z := match p with Clauses _ _ => 2 | Qubo _ => 4 | _ => 1 end.

(** All energies that count are multiples of it, up to one number. *)
Definition grain (p : problem) : Z :=
  match p with
  | Clauses soft _ => 4 * fold_left (fun d (c : Z * list Z) => Z.gcd d (fst c)) soft 0
  | _ => 1
  end.

(** At most two literals, none of them 0; no vertex below 1 in a QUBO. *)
Definition fair_clause (clause : list Z) : bool :=
  match clause with
  | [] => true
  | [l] => negb (l =? 0)
  | [l; k] => negb (l =? 0) && negb (k =? 0)
  | _ => false
  end.

Definition fair (p : problem) : bool :=
  match p with
  | Clauses soft hard => forallb (fun c => fair_clause (snd c)) soft && forallb fair_clause hard
  | Qubo entries => forallb (fun e => (0 <? fst (fst e)) && (0 <? snd (fst e))) entries
  | _ => true
  end.

Lemma energy_cons s m c p : energy s ((m, c) :: p) = c * product s m + energy s p.
Proof. unfold energy; rewrite total_cons; reflexivity. Qed.

Lemma energy_nil s : energy s [] = 0.
Proof. reflexivity. Qed.

Lemma energy_rev_append s p q : energy s (rev_append p q) = energy s p + energy s q.
Proof.
  revert q; induction p as [| [m c] p IH]; intros q; simpl; [rewrite energy_nil; lia |].
  rewrite IH, !energy_cons; lia.
Qed.

Lemma energy_collect {A} s (f : A -> polynomial) l : energy s (collect f l) = total (fun x => energy s (f x)) l.
Proof.
  unfold collect.
  enough (H : forall p, energy s (fold_left (fun p x => rev_append (f x) p) l p)
                        = energy s p + total (fun x => energy s (f x)) l)
    by (rewrite H, energy_nil; lia).
  induction l as [| x l IH]; intros p; simpl; [rewrite total_nil; lia |].
  rewrite IH, total_cons, energy_rev_append; lia.
Qed.

Lemma literal_spin s l : l <> 0 -> up l * spin s (Z.abs l) = if holds s l then 1 else -1.
Proof.
  intros H; unfold up, spin, holds.
  destruct (Z.ltb_spec 0 l).
  - rewrite Z.abs_eq by lia; destruct (Z.eqb_spec l 0); [lia |]. simpl; destruct (s l); lia.
  - rewrite Z.abs_neq by lia; destruct (Z.eqb_spec (- l) 0); [lia |]. simpl; destruct (s (- l)); simpl; lia.
Qed.

Lemma clause_energy s w clause :
  fair_clause clause = true ->
  energy s (clause_terms (w, clause)) = 4 * (if broken s clause then w else 0).
Proof.
  destruct clause as [| l [| k [| ? ?]]]; simpl; intros H; try discriminate;
    rewrite !energy_cons, energy_nil; simpl.
  - lia.
  - apply negb_true_iff, Z.eqb_neq in H.
    replace (2 * w * 1 + (-2 * w * up l * (spin s (Z.abs l) * 1) + 0))
      with (2 * w * (1 - up l * spin s (Z.abs l))) by ring.
    rewrite (literal_spin s l H); destruct (holds s l); simpl; lia.
  - apply andb_true_iff in H; destruct H as [Hl Hk].
    apply negb_true_iff, Z.eqb_neq in Hl; apply negb_true_iff, Z.eqb_neq in Hk.
    pose proof (literal_spin s l Hl) as L; pose proof (literal_spin s k Hk) as K.
    replace (w * 1 + (- w * up l * (spin s (Z.abs l) * 1) + (- w * up k * (spin s (Z.abs k) * 1)
      + (w * up l * up k * (spin s (Z.abs l) * (spin s (Z.abs k) * 1)) + 0))))
      with (w * (1 - up l * spin s (Z.abs l)) * (1 - up k * spin s (Z.abs k))) by ring.
    rewrite L, K; destruct (holds s l), (holds s k); simpl; lia.
Qed.

Lemma entry_energy s e :
  (0 <? fst (fst e)) && (0 <? snd (fst e)) = true -> energy s (entry_terms e) = 4 * entry_in s e.
Proof.
  destruct e as [[i j] q]; simpl; intros H; apply andb_true_iff in H; destruct H as [Hi Hj].
  apply Z.ltb_lt in Hi; apply Z.ltb_lt in Hj.
  assert (X : forall v, 0 < v -> spin s v = if s v then 1 else -1).
  { intros v Hv; unfold spin; destruct (Z.eqb_spec v 0); [lia | reflexivity]. }
  destruct (Z.eqb_spec i j) as [-> | _]; rewrite !energy_cons, energy_nil; simpl; rewrite !X by auto.
  - destruct (s j); simpl; lia.
  - destruct (s i), (s j); simpl; lia.
Qed.

Lemma edge_energy s e : energy s (edge_terms e) = snd e - 2 * cut_by s e.
Proof.
  destruct e as [[a b] w]; simpl; rewrite energy_cons, energy_nil; simpl.
  destruct (spin_sign s a) as [-> | ->], (spin_sign s b) as [-> | ->]; simpl; lia.
Qed.

Lemma total_forallb {A} (f g : A -> Z) (b : A -> bool) l :
  forallb b l = true -> (forall x, b x = true -> f x = g x) -> total f l = total g l.
Proof.
  induction l as [| x l IH]; simpl; intros H K; [reflexivity |].
  apply andb_true_iff in H; destruct H as [Hx Hl]; rewrite !total_cons, (K x Hx), IH; auto.
Qed.

Lemma objective_value p s v :
  fair p = true -> value p s = Some v -> energy s (objective p) = shift p + scale p * v.
Proof.
  destruct p as [soft hard | edges | entries | terms];
    cbn [value fair objective shift scale]; intros F.
  - apply andb_true_iff in F; destruct F as [Fs Fh].
    destruct (forallb (fun clause => negb (broken s clause)) hard) eqn:H; [intros [= <-] | discriminate].
    rewrite energy_rev_append, !energy_collect.
    rewrite (total_forallb _ (fun c => 4 * (if broken s (snd c) then fst c else 0)) _ _ Fs)
      by (intros [w c]; apply clause_energy).
    rewrite total_scale.
    assert (Z0 : forall w, total (fun clause => energy s (clause_terms (w, clause))) hard = 0).
    { intros w; revert Fh H; induction hard as [| c l IH]; cbn [forallb]; intros Fh H; [reflexivity |].
      apply andb_true_iff in Fh; destruct Fh as [Fc Fl].
      apply andb_true_iff in H; destruct H as [Hc Hl]; apply negb_true_iff in Hc.
      rewrite total_cons, (IH Fl Hl), clause_energy, Hc by auto; lia. }
    rewrite Z0; lia.
  - intros [= <-]; rewrite energy_collect; clear F.
    induction edges as [| e l IH]; [reflexivity |].
    rewrite !total_cons, IH, edge_energy; lia.
  - intros [= <-]; rewrite energy_collect, (total_forallb _ (fun e => 4 * entry_in s e) _ _ F)
      by (intros e; apply entry_energy).
    rewrite total_scale; lia.
  - intros [= <-]; lia.
Qed.

Lemma grain_divides p s s' v v' :
  value p s = Some v -> value p s' = Some v' -> (grain p | scale p * v - scale p * v').
Proof.
  destruct p as [soft hard | edges | entries | terms]; simpl; try (intros; apply Z.divide_1_l).
  destruct (forallb _ hard); [intros [= <-] | discriminate].
  destruct (forallb _ hard); [intros [= <-] | discriminate].
  set (d := fold_left _ soft 0).
  assert (D : forall e, In e soft -> (d | fst e)).
  { assert (H : forall l x, (fold_left (fun d (e : Z * list Z) => Z.gcd d (fst e)) l x | x)).
    { induction l as [| e l IH]; intros x; simpl; [apply Z.divide_refl |].
      eapply Z.divide_trans; [apply IH | apply Z.gcd_divide_l]. }
    unfold d; generalize 0 as x; induction soft as [| y l IH]; intros x e; simpl; [intros [] |].
    intros [-> | K]; [| apply IH, K].
    eapply Z.divide_trans; [apply H | apply Z.gcd_divide_r]. }
  rewrite <- Z.mul_sub_distr_l; apply Z.mul_divide_mono_l, Z.divide_sub_r;
    apply total_divide; intros e He; destruct (broken _ _); auto using Z.divide_0_r.
Qed.

(** ** The certificate *)

Record certificate := {
  denominator : Z;
  digits : list bool;
  stated : option Z;            (* what the certificate states of its own cost *)
  rows : list row;
  loops : list (list Z);
  squares : list (list Z);
  common : Z * Z;               (* so many loops and squares, the first ones, belong to every leaf *)
  table : list monomial;        (* the vertices after the variables: products of spins *)
  cores : option (list core)    (* [None] if there are parts of the other kinds *)
}.

(** The table as a tree, the first of its vertices being [k]. *)
Fixpoint table_from (k : Z) (l : list monomial) (t : tree monomial) : tree monomial :=
  match l with [] => t | m :: l' => table_from (k + 1) l' (update (fun _ => m) [k] t) end.

Definition vertex_in (size : Z) (t : tree monomial) (v : Z) : monomial :=
  if v <=? size then [v] else match find [v] t with Some m => m | None => [v] end.

(** The same state as [assignment], in a tree. *)
Fixpoint digits_from (k : Z) (l : list bool) (t : tree bool) : tree bool :=
  match l with [] => t | b :: l' => digits_from (k + 1) l' (update (fun _ => b) [k] t) end.

Fixpoint has_digits (k : Z) (l : list bool) (t : tree bool) : bool :=
  match l with
  | [] => true
  | b :: l' => (match find [k] t with Some c => Bool.eqb b c | None => false end) && has_digits (k + 1) l' t
  end.

Definition state_of (t : tree bool) : state := fun v => match find [v] t with Some b => b | None => false end.

Lemma assignment_at before b after :
  assignment (before ++ b :: after) (1 + Z.of_nat (length before)) = b.
Proof.
  unfold assignment.
  replace (1 + Z.of_nat (length before) - 1) with (Z.of_nat (length before)) by lia; rewrite Nat2Z.id.
  destruct (Z.leb_spec 1 (1 + Z.of_nat (length before))); [| lia]; simpl; apply nth_middle.
Qed.

Lemma digits_from_all before after t :
  let P := fun m b => forall v, m = [v] -> assignment (before ++ after) v = b in
  all P t -> all P (digits_from (1 + Z.of_nat (length before)) after t).
Proof.
  revert before t; induction after as [| b after IH]; intros before t P; simpl; auto; intros H.
  specialize (IH (before ++ [b]) (update (fun _ => b) [1 + Z.of_nat (length before)] t)).
  rewrite app_length, <- app_assoc in IH; simpl in IH.
  replace (1 + Z.of_nat (length before) + 1) with (1 + Z.of_nat (length before + 1)) by lia.
  apply IH, all_update; auto.
  intros _ _ v [= <-]; apply assignment_at.
Qed.

Lemma has_digits_find k l t v :
  has_digits k l t = true -> k <= v < k + Z.of_nat (length l) -> exists b, find [v] t = Some b.
Proof.
  revert k; induction l as [| b l IH]; intros k; simpl length; simpl; [lia |].
  intros H Hv; apply andb_true_iff in H; destruct H as [Hb Hl].
  destruct (Z.eq_dec v k) as [-> | Hn]; [destruct (find [k] t); [eauto | discriminate] |].
  apply (IH (k + 1)); auto; lia.
Qed.

Lemma state_of_digits l v :
  has_digits 1 l (digits_from 1 l Empty) = true -> state_of (digits_from 1 l Empty) v = assignment l v.
Proof.
  intros H; unfold state_of.
  pose proof (digits_from_all [] l Empty I) as A; simpl in A.
  destruct (find [v] (digits_from 1 l Empty)) as [b |] eqn:E.
  - symmetry; apply (all_find _ _ _ _ A E); reflexivity.
  - unfold assignment; destruct (Z.leb_spec 1 v) as [Hv |]; [| reflexivity]; simpl.
    destruct (Z_lt_le_dec v (1 + Z.of_nat (length l))) as [K | K].
    + destruct (has_digits_find 1 l _ v H ltac:(lia)) as [b Hb]; congruence.
    + symmetry; apply nth_overflow; lia.
Qed.

Lemma value_ext p s s' : (forall v, s v = s' v) -> value p s = value p s'.
Proof.
  intros H.
  assert (Hs : forall v, spin s v = spin s' v) by (intros; unfold spin; rewrite H; reflexivity).
  assert (Hb : forall c, broken s c = broken s' c).
  { intros c; unfold broken; induction c as [| l c IH]; simpl; [reflexivity |].
    rewrite IH; unfold holds; rewrite !H; reflexivity. }
  assert (Hp : forall m, product s m = product s' m) by (induction m; simpl; congruence).
  destruct p as [soft hard | edges | entries | terms]; simpl.
  - replace (forallb (fun clause => negb (broken s clause)) hard)
      with (forallb (fun clause => negb (broken s' clause)) hard).
    + destruct (forallb _ hard); [| reflexivity]; f_equal; apply total_ext; intros; rewrite Hb; auto.
    + clear soft; induction hard; simpl; congruence.
  - f_equal; apply total_ext; intros [[a b] w]; simpl; rewrite !Hs; auto.
  - f_equal; apply total_ext; intros [[i j] q]; simpl; rewrite !H; auto.
  - f_equal; apply total_ext; intros e; rewrite Hp; auto.
Qed.

(** ** Parts must be well formed, whichever leaf they belong to

    Nothing is proven of these conditions, which the format demands: the bound would hold without
    them, or another test refuses what breaks them. *)

Fixpoint ends_up (vs : list Z) : bool :=
  match vs with [] => false | [v] => 0 <=? v | _ :: rest => ends_up rest end.

Definition mapped {A B} (f : A -> B) (l : list A) : list B :=
  rev_append (fold_left (fun r x => f x :: r) l []) [].

(** At least two variables, ascending. *)
Fixpoint ascends (v : Z) (m : monomial) (size : Z) : bool :=
  match m with [] => v <=? size | w :: m' => (v <? w) && ascends w m' size end.

Definition is_monomial (size : Z) (m : monomial) : bool :=
  match m with v :: (_ :: _) as rest => (0 <? v) && ascends v rest size | _ => false end.

Fixpoint unique (ms : list monomial) (seen : tree bool) : bool :=
  match ms with
  | [] => true
  | m :: rest =>
      match find m seen with
      | Some _ => false
      | None => unique rest (update (fun _ => true) m seen)
      end
  end.

Definition is_loop (size : Z) (loop : list Z) : bool :=
  match loop with
  | mu :: vs =>
      let cycle := mapped Z.abs vs in
      (0 <? mu) && (match vs with _ :: _ :: _ :: _ => true | _ => false end)
      && forallb (fun v => v <=? size) cycle && all_fresh cycle && ends_up vs
      && Z.even (total (fun v => if v <? 0 then 1 else 0) vs)
  | [] => false
  end.

Fixpoint pairs_of (l : list Z) (acc : list (Z * Z)) : option (list (Z * Z)) :=
  match l with
  | [] => Some acc
  | a :: v :: rest => pairs_of rest ((a, v) :: acc)
  | _ => None
  end.

Definition is_square (size : Z) (square : list Z) : bool :=
  match square with
  | c :: rest =>
      match pairs_of rest [] with
      | Some ((_ :: _) as pairs) =>
          (0 <? c)
          && forallb (fun e => negb (fst e =? 0) && (Z.abs (fst e) <? large)
                               && (0 <=? snd e) && (snd e <=? size)) pairs
          && all_fresh (mapped snd pairs)
      | _ => false
      end
  | [] => false
  end.

(** ** The verdict *)

(** What the line [cost] of a certificate states: for a graph the sum of w s s, with the offset. *)
Definition cost_of (p : problem) (offset v : Z) : Z :=
  offset + match p with Graph _ => shift p + scale p * v | _ => v end.

(** The least energy that loops, squares and covers leave possible. *)
Definition low_by_parts (p : problem) (size v : Z) (s : state) (c : certificate) : option Z :=
  let tab := table_from (size + 1) (table c) Empty in
  let highest := size + total (fun _ => 1) (table c) in
  let (first_loops, first_squares) := common c in
  if forallb (is_loop highest) (loops c) && forallb (is_square highest) (squares c)
     && forallb (is_monomial size) (table c) && unique (table c) Empty
  then
    match taken first_loops (loops c) [], taken first_squares (squares c) [] with
    | Some (common_loops, own_loops), Some (common_squares, own_squares) =>
        let terms := objective p in
        let whole_step := Z.lcm (grain p) (step (gather Empty terms)) in
        leaves terms (unit p) (denominator c) (vertex_in size tab)
          (fun v => product s (vertex_in size tab v)) (shift p + scale p * v) whole_step size
          common_loops common_squares (rows c) [Some Empty] own_loops own_squares None
    | _, _ => None
    end
  else None.

(** The least energy that cores leave possible. *)
Definition low_by_cores (p : problem) (size v : Z) (c : certificate) : option Z :=
  match p, cores c with
  | Clauses soft hard, Some found =>
      match cost_of_cores size (denominator c) soft hard found with
      | Some low => Some (round (denominator c) (4 * v) (grain p) (4 * low))
      | None => None
      end
  | _, _ => None
  end.

(** Clauses of three and more literals have no other proofs than cores. *)
Definition has_cores (p : problem) (c : certificate) : bool :=
  match cores c with Some (_ :: _) => true | _ => negb (fair p) end.

Definition check (p : problem) (size offset : Z) (c : certificate) : option verdict :=
  let t := digits_from 1 (digits c) Empty in
  let s := state_of t in
  if (0 <? denominator c) && has_digits 1 (digits c) t && (total (fun _ => 1) (digits c) =? size)
  then
    match value p s with
    | Some v =>
        if (match stated c with Some x => x =? cost_of p offset v | None => true end)
        then
          let here := shift p + scale p * v in
          match (if has_cores p c then low_by_cores p size v c else low_by_parts p size v s c) with
          | Some low =>
              if low =? here then Some (Optimum v)
              else if low <? here then
                Some (Bound (match p with
                             | Graph _ => (shift p - low) / 2
                             | _ => - ((shift p - low) / scale p)
                             end) v)
              else None
          | None => None
          end
        else None
    | None => None
    end
  else None.

Lemma unit_nonnegative p : 0 <= unit p.
Proof. destruct p; simpl; lia. Qed.

Lemma low_by_parts_holds p size v s c low :
  0 < denominator c -> fair p = true -> value p s = Some v -> low_by_parts p size v s c = Some low ->
  forall s' w, value p s' = Some w -> low <= shift p + scale p * w.
Proof.
  intros D F V; unfold low_by_parts; destruct (common c) as [first_loops first_squares].
  destruct (_ && _ && _ && _); [| discriminate].
  destruct (taken first_loops _ _) as [[common_loops own_loops] |]; [| discriminate].
  destruct (taken first_squares _ _) as [[common_squares own_squares] |]; [| discriminate].
  intros E s' w W; rewrite <- (objective_value p s' w F W).
  eapply leaves_hold; [apply unit_nonnegative | exact D | intros; apply product_sign | | apply Z.lcm_nonneg | | exact E].
  - apply Z.lcm_least.
    + rewrite (objective_value p s' w F W).
      replace (shift p + scale p * w - (shift p + scale p * v))
        with (scale p * w - scale p * v) by ring.
      eapply grain_divides; eauto.
    + rewrite <- (objective_value p s v F V).
      rewrite <- (weigh_gather s Empty), <- (weigh_gather s' Empty) by apply obeys_none.
      destruct (step_divides s (gather Empty (objective p))) as [x Hx].
      destruct (step_divides s' (gather Empty (objective p))) as [y Hy].
      exists (y - x); lia.
  - right; exists Empty; split; [left; reflexivity | apply obeys_none].
Qed.

Lemma grain_nonnegative p : 0 <= grain p.
Proof.
  destruct p as [soft hard | | |]; simpl; try lia.
  enough (forall d, 0 <= d -> 0 <= fold_left (fun d (c : Z * list Z) => Z.gcd d (fst c)) soft d) as H
    by (specialize (H 0 (Z.le_refl 0)); lia).
  induction soft as [| c soft IH]; simpl; auto using Z.gcd_nonneg.
Qed.

Lemma low_by_cores_holds p size v s c low :
  0 < denominator c -> value p s = Some v -> low_by_cores p size v c = Some low ->
  forall s' w, value p s' = Some w -> low <= shift p + scale p * w.
Proof.
  intros D V; unfold low_by_cores; destruct p as [soft hard | | |]; try discriminate.
  destruct (cores c) as [found |]; [| discriminate].
  destruct (cost_of_cores _ _ _ _ _) as [b |] eqn:E; [| discriminate].
  intros [= <-] s' w W; apply (cost_of_cores_is_paid _ _ _ _ _ _ s' w D) in E; auto.
  pose proof (grain_divides _ _ _ _ _ W V) as G; cbn [shift scale] in *; rewrite Z.add_0_l.
  apply round_bound; [exact D | apply (grain_nonnegative (Clauses soft hard)) | exact G | lia].
Qed.

Theorem check_is_correct p size offset c r :
  check p size offset c = Some r -> true_verdict p (assignment (digits c)) r.
Proof.
  unfold check.
  set (t := digits_from 1 (digits c) Empty); set (s := state_of t).
  destruct (0 <? denominator c) eqn:D; [| discriminate]; apply Z.ltb_lt in D.
  destruct (has_digits 1 (digits c) t) eqn:H; [| discriminate].
  destruct (_ =? size); [| discriminate].
  destruct (value p s) as [v |] eqn:V; [| discriminate].
  destruct (match stated c with Some x => _ | None => _ end); [| discriminate].
  destruct (if has_cores p c then _ else _) as [low |] eqn:E; [| discriminate].
  assert (Va : value p (assignment (digits c)) = Some v).
  { rewrite <- V; apply value_ext; intros x; symmetry; apply state_of_digits, H. }
  assert (B : forall s' w, value p s' = Some w -> low <= shift p + scale p * w).
  { destruct (has_cores p c) eqn:C; [apply (low_by_cores_holds p size v s c low D V E) |].
    refine (low_by_parts_holds p size v s c low D _ V E); unfold has_cores in C.
    destruct (cores c) as [[|] |]; try discriminate; destruct (fair p); auto; discriminate. }
  destruct (Z.eqb_spec low (shift p + scale p * v)) as [-> | _].
  - intros [= <-]; split; auto; intros s' w W; specialize (B s' w W).
    destruct p; simpl in *; lia.
  - destruct (low <? _); [| discriminate].
    intros [= <-]; split; auto; intros s' w W; specialize (B s' w W).
    destruct p; simpl in *.
    + enough (- w <= (0 - low) / 4) by lia; apply Z.div_le_lower_bound; lia.
    + apply Z.div_le_lower_bound; lia.
    + enough (- w <= (0 - low) / 4) by lia; apply Z.div_le_lower_bound; lia.
    + enough (- w <= (0 - low) / 1) by lia; apply Z.div_le_lower_bound; lia.
Qed.
