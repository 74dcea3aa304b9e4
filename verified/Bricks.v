(** The bricks of a proof: loops, squares, and the step between energies.

    A brick is a polynomial that is never below a number. It is taken off the problem, and the
    number is kept. Loops and squares are proven over monomials, whatever their degree is. *)

Require Import ZArith List Bool Lia Znumtheory.
From Verified Require Import Statement Tree Polynomials.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

(** What is left of a polynomial, and the sum of the least values of what was taken off. *)
Definition account := (tree Z * Z)%type.

Definition covers (s : state) (e : Z) (a : account) : Prop := weigh (product s) (fst a) + snd a <= e.

Fixpoint fold_some {A B} (f : A -> B -> option A) (l : list B) (a : A) : option A :=
  match l with
  | [] => Some a
  | x :: l' => match f a x with Some a' => fold_some f l' a' | None => None end
  end.

Lemma fold_some_keeps {A B} (I : A -> Prop) (f : A -> B -> option A) l a a' :
  (forall a x a', I a -> f a x = Some a' -> I a') -> I a -> fold_some f l a = Some a' -> I a'.
Proof.
  intros H; revert a; induction l as [| x l IH]; intros a; simpl; [intros Ha [= <-]; auto |].
  destruct (f a x) eqn:E; [| discriminate]. intros Ha; apply IH; eauto.
Qed.

(** Coefficients of squares and weights of problems are smaller. *)
Definition large : Z := Eval compute in 2 ^ 63.

(** ** Loops: monomials with signs whose product is -1 in every state *)

Definition product_of (l : list Z) : Z := fold_right Z.mul 1 l.
Definition sum_of (l : list Z) : Z := fold_right Z.add 0 l.

Lemma signs_sum l :
  Forall sign l ->
  sign (product_of l) /\ sum_of l <= Z.of_nat (length l) /\
  (product_of l = -1 -> sum_of l <= Z.of_nat (length l) - 2).
Proof.
  induction l as [| x l IH]; intros H; [simpl; unfold sign; lia |].
  inversion_clear H as [| ? ? Hx Hl]; destruct (IH Hl) as (Hp & Hs & Ho); clear IH.
  change (product_of (x :: l)) with (x * product_of l).
  change (sum_of (x :: l)) with (x + sum_of l).
  replace (Z.of_nat (length (x :: l))) with (1 + Z.of_nat (length l)) by (simpl length; lia).
  split; [apply sign_times; auto | destruct Hx as [-> | ->]; lia].
Qed.

Section Loops.
Variable m : Z -> monomial.  (* the product of spins that each vertex stands for *)
Variable g : Z -> Z.  (* the vertices' values in the certificate's state; any signs will do *)
Variable t : ties.
Variable k : Z.       (* the weight of each edge *)

(** Add the edges of a loop to a polynomial. A vertex below zero marks the edge to the next one; the
    last edge, back to the first vertex, always is marked. Yields the product of all marks, too, and
    the number of edges. *)
Fixpoint walk (first v : Z) (rest : list Z) (p : tree Z) (marks edges : Z) : tree Z * Z * Z :=
  match rest with
  | [] =>
      let a := Z.abs v in let b := Z.abs first in
      (put t (m a ++ m b) (k * - (g a * g b)) p, - marks, edges + 1)
  | n :: rest' =>
      let a := Z.abs v in let b := Z.abs n in
      let x := if v <? 0 then -1 else 1 in
      walk first n rest' (put t (m a ++ m b) (k * (x * (g a * g b))) p) (x * marks) (edges + 1)
  end.

Hypothesis g_sign : forall v, sign (g v).
Variable s : state.
Hypothesis obeyed : obeys s t.

Let h (v : Z) : Z := g (Z.abs v) * product s (m (Z.abs v)).

Lemma h_sign v : sign (h v).
Proof. apply sign_times; auto using product_sign. Qed.

Lemma walk_adds first v rest p marks edges :
  let '(p', marks', edges') := walk first v rest p marks edges in
  exists l y, Forall sign l /\ weigh (product s) p' = weigh (product s) p + k * sum_of l
    /\ marks' = y * marks /\ product_of l = y * (h v * h first)
    /\ edges' = edges + Z.of_nat (length l).
Proof.
  revert v p marks edges; induction rest as [| n rest IH]; intros v p marks edges; simpl.
  - exists [- (h v * h first)], (-1).
    split; [constructor; [| constructor];
            destruct (sign_times _ _ (h_sign v) (h_sign first)) as [-> | ->]; unfold sign; lia |].
    rewrite weigh_put by auto; rewrite product_app; unfold h; simpl; repeat split; try ring; lia.
  - set (x := if v <? 0 then -1 else 1).
    assert (Hx : sign x) by (unfold x, sign; destruct (v <? 0); auto).
    specialize (IH n (put t (m (Z.abs v) ++ m (Z.abs n)) (k * (x * (g (Z.abs v) * g (Z.abs n)))) p)
                  (x * marks) (edges + 1)).
    destruct (walk _ _ _ _ _ _) as [[p' marks'] edges'].
    destruct IH as (l & y & Hl & Hp & Hm & Hq & He).
    exists (x * (h v * h n) :: l), (y * x).
    split; [constructor; auto; apply sign_times; auto; apply sign_times; apply h_sign |].
    rewrite Hp, weigh_put, product_app by auto.
    change (product_of (x * (h v * h n) :: l)) with (x * (h v * h n) * product_of l).
    change (sum_of (x * (h v * h n) :: l)) with (x * (h v * h n) + sum_of l).
    rewrite Hq; repeat split.
    + unfold h; simpl; ring.
    + rewrite Hm; ring.
    + pose proof (sign_square _ (h_sign n)) as K.
      replace (x * (h v * h n) * (y * (h n * h first)))
        with (x * y * h v * h first * (h n * h n)) by ring.
      rewrite K; ring.
    + simpl length; lia.
Qed.

End Loops.

(** Take a loop off: its multiplier, then its vertices. *)
Definition take_loop (m : Z -> monomial) (g : Z -> Z) (t : ties) (unit : Z) (a : account) (loop : list Z) : option account :=
  match loop with
  | mu :: first :: rest =>
      let k := unit * mu in
      let '(p, marks, edges) := walk m g t k first first rest (fst a) 1 0 in
      if (0 <? mu) && (marks =? -1) then Some (p, snd a - k * (edges - 2)) else None
  | _ => None
  end.

Lemma take_loop_covers m g t unit s e a loop a' :
  (forall v, sign (g v)) -> obeys s t -> 0 <= unit ->
  covers s e a -> take_loop m g t unit a loop = Some a' -> covers s e a'.
Proof.
  intros Hg Ht Hu Ha; unfold take_loop.
  destruct loop as [| mu [| first rest]]; try discriminate.
  pose proof (walk_adds m g t (unit * mu) Hg s Ht first first rest (fst a) 1 0) as H.
  destruct (walk _ _ _ _ _ _ _ _ _ _) as [[p marks] edges].
  destruct H as (l & y & Hl & Hp & Hm & Hq & He).
  destruct (0 <? mu) eqn:Hmu; [| discriminate].
  destruct (Z.eqb_spec marks (-1)) as [Hodd |]; [| discriminate].
  intros [= <-]; unfold covers in *; cbn [fst snd].
  destruct (signs_sum l Hl) as (_ & _ & Hs).
  rewrite (sign_square _ (h_sign m g Hg s first)) in Hq.
  assert (Hn : sum_of l <= edges - 2) by (rewrite He; apply Hs; lia).
  apply Z.ltb_lt in Hmu.
  assert (0 <= unit * mu) by (apply Z.mul_nonneg_nonneg; lia).
  rewrite Hp; nia.
Qed.

(** ** Squares *)

(** The square's coefficients at the roots of its vertices. *)
Fixpoint tied (m : Z -> monomial) (t : ties) (pairs : list Z) (p : tree Z) : option (tree Z) :=
  match pairs with
  | [] => Some p
  | a :: v :: rest => tied m t rest (put t (m v) a p)
  | _ => None
  end.

(** Add k times the square of a sum of monomials. *)
Fixpoint expand (k : Z) (sum : polynomial) (p : tree Z) : tree Z :=
  match sum with
  | [] => p
  | (m, a) :: rest =>
      expand k rest (fold_left (fun p e => add (mul m (fst e)) (2 * k * a * snd e) p) rest
                       (add [] (k * (a * a)) p))
  end.

Definition divisor (sum : polynomial) : Z := fold_left (fun d e => Z.gcd d (snd e)) sum 0.

(** The least value that parity leaves to the square of a sum of monomials. *)
Definition least_square (sum : polynomial) : Z :=
  let d := divisor sum in
  if (total snd sum / d) mod 2 =? 1 then d * d else 0.

Definition take_square (m : Z -> monomial) (t : ties) (unit : Z) (a : account) (square : list Z) : option account :=
  match square with
  | c :: pairs =>
      match tied m t pairs Empty with
      | Some p =>
          let sum := entries p in
          if (0 <? c) && forallb (fun e => Z.abs (snd e) <? large) sum
          then Some (expand (- (unit * c)) sum (fst a), snd a + unit * c * least_square sum) else None
      | None => None
      end
  | [] => None
  end.

Definition linear (s : state) (sum : polynomial) : Z := total (fun e => product s (fst e) * snd e) sum.

Lemma weigh_expand s k sum p :
  weigh (product s) (expand k sum p) = weigh (product s) p + k * (linear s sum * linear s sum).
Proof.
  revert p; induction sum as [| [m a] rest IH]; intros p; simpl; [unfold linear; rewrite total_nil; ring |].
  rewrite IH.
  assert (H : forall l p, weigh (product s)
      (fold_left (fun p e => add (mul m (fst e)) (2 * k * a * snd e) p) l p)
      = weigh (product s) p + 2 * k * a * product s m * linear s l).
  { unfold linear; induction l as [| e l IHl]; intros q; simpl; [rewrite total_nil; ring |].
    rewrite IHl, total_cons, weigh_add, product_mul; ring. }
  rewrite H, weigh_add; unfold linear; rewrite total_cons; simpl.
  pose proof (sign_square _ (product_sign s m)) as K.
  set (L := total _ rest).
  replace ((product s m * a + L) * (product s m * a + L))
    with ((product s m * product s m) * (a * a) + 2 * a * product s m * L + L * L) by ring.
  rewrite K; ring.
Qed.

Lemma divisor_divides sum e : In e sum -> (divisor sum | snd e).
Proof.
  unfold divisor.
  assert (H : forall l d, (fold_left (fun d (e : monomial * Z) => Z.gcd d (snd e)) l d | d)).
  { induction l as [| x l IH]; intros d; simpl; [apply Z.divide_refl |].
    eapply Z.divide_trans; [apply IH | apply Z.gcd_divide_l]. }
  generalize 0 as d; induction sum as [| x l IH]; intros d; simpl; [intros [] |].
  intros [-> | K]; [| apply IH, K].
  eapply Z.divide_trans; [apply H | apply Z.gcd_divide_r].
Qed.

Lemma parity_of_linear s sum : (2 * divisor sum | linear s sum - total snd sum).
Proof.
  unfold linear.
  assert (H : forall l, total (fun e => product s (fst e) * snd e) l - total snd l
                        = total (fun e => (product s (fst e) - 1) * snd e) l).
  { induction l as [| x l IH]; [reflexivity |]. rewrite !total_cons, <- IH; ring. }
  rewrite H; apply total_divide; intros e He.
  destruct (divisor_divides _ _ He) as [q Hq].
  destruct (product_sign s (fst e)) as [-> | ->].
  - exists 0; ring.
  - exists (- q); rewrite Hq; ring.
Qed.

Lemma square_bound s sum : least_square sum <= linear s sum * linear s sum.
Proof.
  unfold least_square; set (d := divisor sum).
  destruct (Z.eqb_spec ((total snd sum / d) mod 2) 1) as [E |]; [| apply Z.square_nonneg].
  destruct (Z.eq_dec d 0) as [Hd | Hd]; [rewrite Hd; simpl; apply Z.square_nonneg |].
  destruct (parity_of_linear s sum) as [q Hq]; fold d in Hq.
  assert (Hs : (d | total snd sum)) by (apply total_divide; intros; apply divisor_divides; auto).
  destruct Hs as [r Hr].
  rewrite Hr, Z.div_mul in E by auto.
  assert (HL : linear s sum = d * (r + 2 * q)) by lia.
  assert (Ho : r + 2 * q <> 0) by (pose proof (Z.div_mod r 2 ltac:(lia)); lia).
  rewrite HL.
  replace (d * (r + 2 * q) * (d * (r + 2 * q)))
    with (d * d * ((r + 2 * q) * (r + 2 * q))) by ring.
  assert (1 <= (r + 2 * q) * (r + 2 * q)) by nia.
  pose proof (Z.square_nonneg d); nia.
Qed.

Lemma take_square_covers m t unit s e a square a' :
  0 <= unit -> covers s e a -> take_square m t unit a square = Some a' -> covers s e a'.
Proof.
  intros Hu Ha; unfold take_square.
  destruct square as [| c pairs]; [discriminate |].
  destruct (tied m t pairs Empty) as [p |]; [| discriminate].
  destruct (0 <? c) eqn:Hc; [| discriminate].
  destruct (forallb _ _); [| discriminate].
  intros [= <-]; unfold covers in *; cbn [fst snd].
  rewrite weigh_expand.
  pose proof (square_bound s (entries p)).
  apply Z.ltb_lt in Hc; assert (0 <= unit * c) by (apply Z.mul_nonneg_nonneg; lia).
  nia.
Qed.

(** ** The step between energies *)

(** The gcd of all coefficients but the constant. *)
Definition gcd_of (p : tree Z) : Z :=
  fold_tree (fun d m c => match m with [] => d | _ => Z.gcd d c end) p 0.

(** For each spin the sum of the coefficients of its monomials. *)
Definition sums_at_spins (p : tree Z) : tree Z :=
  fold_tree (fun t m c => fold_left (fun t v => add [v] c t) m t) p Empty.

(** All values differ by multiples of it; 0 if all are the same. *)
Definition step (p : tree Z) : Z := 2 * Z.gcd (2 * gcd_of p) (gcd_of (sums_at_spins p)).

(** The value of the state whose spins all are up. *)
Definition all_up (p : tree Z) : Z := fold_tree (fun t _ c => t + c) p 0.

Lemma all_up_weigh p : all_up p = weigh (fun _ => 1) p.
Proof.
  unfold all_up.
  enough (H : forall a, fold_tree (fun t _ c => t + c) p a = a + weigh (fun _ => 1) p) by apply (H 0).
  induction p as [| h l IHl m c r IHr]; intros a; simpl; [ring |]. rewrite IHr, IHl; ring.
Qed.

Definition multiples (d : Z) (p : tree Z) : Prop := all (fun m c => m = [] \/ (d | c)) p.

Lemma gcd_of_divides p : multiples (gcd_of p) p.
Proof.
  unfold gcd_of, multiples; set (f := fun d m c => _).
  assert (F : forall d m c, (f d m c | d)).
  { intros d [| v m] c; [apply Z.divide_refl | apply Z.gcd_divide_l]. }
  assert (H : forall p d, (fold_tree f p d | d)).
  { clear p; induction p as [| h l IHl m c r IHr]; intros d; simpl; [apply Z.divide_refl |].
    eapply Z.divide_trans; [apply IHr |]. eapply Z.divide_trans; [apply F | apply IHl]. }
  assert (W : forall (p : tree Z) d d', (d | d') ->
    all (fun m c => m = [] \/ (d' | c)) p -> all (fun m c => m = [] \/ (d | c)) p).
  { clear; intros p d d' Hd; induction p; simpl; auto.
    intros (A & B & C); repeat split; auto; destruct B; auto; right; eapply Z.divide_trans; eauto. }
  generalize 0 as d; induction p as [| h l IHl m c r IHr]; intros d; simpl; [exact I |].
  repeat split.
  - eapply W; [| apply (IHl d)]. eapply Z.divide_trans; [apply H | apply F].
  - destruct m; [left; reflexivity | right].
    eapply Z.divide_trans; [apply H | apply Z.gcd_divide_r].
  - apply IHr.
Qed.

Lemma weigh_divide f d p : f [] = 0 -> multiples d p -> (d | weigh f p).
Proof.
  intros Hf; induction p as [| h l IHl m c r IHr]; simpl; [intros _; apply Z.divide_0_r |].
  intros (A & B & C); repeat apply Z.divide_add_r; auto.
  destruct B as [-> | B]; [rewrite Hf; apply Z.divide_0_r | apply Z.divide_mul_r, B].
Qed.

Section Step.
Variable s : state.

Fixpoint downs (m : monomial) : Z :=
  match m with [] => 0 | v :: n => (if spin s v =? 1 then 0 else 1) + downs n end.

Lemma product_downs m : exists q, product s m = 1 - 2 * downs m + 4 * q.
Proof.
  induction m as [| v m [q Hq]]; simpl; [exists 0; reflexivity |].
  rewrite Hq; destruct (spin_sign s v) as [-> | ->]; simpl.
  - exists q; ring.
  - exists (- q + downs m); ring.
Qed.

Lemma downs_of_sums p : weigh downs (sums_at_spins p) = weigh downs p.
Proof.
  unfold sums_at_spins.
  assert (K : forall c m t, weigh downs (fold_left (fun t v => add [v] c t) m t) = weigh downs t + downs m * c).
  { intros c; induction m as [| v m IH]; intros t; simpl; [ring |].
    rewrite IH, weigh_add; simpl; ring. }
  enough (H : forall a, weigh downs
    (fold_tree (fun t m c => fold_left (fun t v => add [v] c t) m t) p a)
    = weigh downs a + weigh downs p) by apply (H Empty).
  induction p as [| h l IHl m c r IHr]; intros a; simpl; [ring |]. rewrite IHr, K, IHl; ring.
Qed.

Lemma downs_modulo d g p :
  (d | 4 * g) -> multiples g p ->
  (d | weigh (product s) p - weigh (fun _ => 1) p + 2 * weigh downs p).
Proof.
  intros [k Hk]; induction p as [| h l IHl m c r IHr]; simpl; [intros _; exists 0; ring |].
  intros (A & B & C); destruct (IHl A) as [x Hx], (IHr C) as [y Hy].
  destruct B as [-> | [n Hn]]; [exists (x + y); simpl; lia |].
  destruct (product_downs m) as [q Hq]; rewrite Hq.
  exists (x + n * q * k + y).
  replace ((x + n * q * k + y) * d) with (x * d + n * q * (k * d) + y * d) by ring.
  rewrite <- Hx, <- Hy, <- Hk, Hn; ring.
Qed.

Lemma step_divides p : (step p | weigh (product s) p - all_up p).
Proof.
  rewrite all_up_weigh; unfold step.
  set (d := Z.gcd _ _).
  destruct (downs_modulo (2 * d) (gcd_of p) p) as [q Hq]; [| apply gcd_of_divides |].
  { destruct (Z.gcd_divide_l (2 * gcd_of p) (gcd_of (sums_at_spins p))) as [q Hq].
    exists q; fold d in Hq; lia. }
  assert (K : (2 * d | 2 * weigh downs p)).
  { rewrite <- downs_of_sums; apply Z.mul_divide_mono_l.
    eapply Z.divide_trans; [apply Z.gcd_divide_r | apply weigh_divide; [reflexivity | apply gcd_of_divides]]. }
  destruct K as [r Hr]; exists (q - r); lia.
Qed.

End Step.
