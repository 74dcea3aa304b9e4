(** Search trees: what each leaf proves, and why all leaves together prove it of every state. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement Tree Polynomials Bricks Cover Order.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

(** Whether all numbers are distinct. *)
Fixpoint fresh (vs : list Z) (seen : tree bool) : bool :=
  match vs with
  | [] => true
  | v :: rest =>
      match find [v] seen with
      | Some _ => false
      | None => fresh rest (update (fun _ => true) [v] seen)
      end
  end.

Definition all_fresh (vs : list Z) : bool := fresh vs Empty.

(** The rows of a tree in prefix order. *)
Inductive row :=
| Branch (a b : Z)             (* in the first half the spins of a and b agree, in the second they differ *)
| Leaf (loops squares : Z)     (* a leaf that owns the next loops and squares *)
| Exact (is_cover : bool) (vs : list Z).
    (* a leaf with a cover, whose states are enumerated, or with an order, whose spins are eliminated *)

(** The first n elements of a list, and the others; [None] if there are fewer. *)
Fixpoint taken {A} (n : Z) (l acc : list A) : option (list A * list A) :=
  if n <=? 0 then Some (rev_append acc [], l)
  else match l with [] => None | x :: l' => taken (n - 1) l' (x :: acc) end.

Section Check.
Variable terms : polynomial.   (* the problem *)
Variable unit : Z.             (* what multipliers of parts are scaled with *)
Variable over : Z.             (* the denominator of the parts *)
Variable vertex : Z -> monomial.  (* the product of spins that each vertex stands for *)
Variable g : Z -> Z.           (* the vertices' values in the certificate's state *)
Variables at_state whole_step : Z.  (* all energies that count differ from the first by multiples of the second *)
Variable size : Z.             (* vertices of the tree are at most this *)
Variables common_loops common_squares : list (list Z).

(** The least number x + k step that is not below low / over. *)
Definition round (x step low : Z) : Z :=
  if step =? 0 then x else x - (x * over - low) / (over * step) * step.

Definition take_parts (t : ties) (loops squares : list (list Z)) (a : account) : option account :=
  match fold_some (take_loop vertex g t unit) loops a with
  | Some a' => fold_some (take_square vertex t unit) squares a'
  | None => None
  end.

Definition leaf_bound (t : ties) (loops squares : list (list Z)) : option Z :=
  let small := gather t terms in
  match take_parts t common_loops common_squares (map_tree (fun _ c => over * c) small, 0) with
  | None => None
  | Some a =>
      match take_parts t loops squares a with
      | None => None
      | Some (rest, taken) =>
          let low := Z.max (over * lower small) (lower rest + taken) in
          Some (Z.max (round (all_up small) (step small) low) (round at_state whole_step low))
      end
  end.

(** The roots of vertices in their order: each root once, and never the ghost. *)
Definition roots (t : ties) (vs : list Z) : list Z :=
  rev_append (fst (fold_left (fun found v =>
    let r := fst (follow t v) in
    match find [r] (snd found) with
    | Some _ => found
    | None => (r :: fst found, update (fun _ => true) [r] (snd found))
    end) vs ([], update (fun _ => true) [0] Empty))) [].

Definition exact_bound (is_cover : bool) (t : ties) (vs : list Z) : option Z :=
  (if is_cover then least_of_cover else least_of_order) (roots t vs) (gather t terms).

Definition lesser (o : option Z) (b : Z) : option Z :=
  match o with None => Some b | Some a => Some (Z.min a b) end.

Definition extended (a b x : Z) (path : option ties) : option ties :=
  match path with Some t => join a b x t | None => None end.

Definition is_vertex (v : Z) : bool := (0 <=? v) && (v <=? size).

(** Paths wait for their subtrees; [None] is a path that contradicts itself, where no state is. *)
Fixpoint leaves (rows : list row) (waiting : list (option ties)) (loops squares : list (list Z))
    (found : option Z) : option Z :=
  match rows, waiting with
  | [], [] => match loops, squares with [], [] => found | _, _ => None end
  | [], _ :: _ => None
  | _ :: _, [] => None
  | Branch a b :: rest, path :: others =>
      if is_vertex a && is_vertex b && negb (a =? b)
      then leaves rest (extended a b 1 path :: extended a b (-1) path :: others) loops squares found
      else None
  | Leaf n k :: rest, path :: others =>
      match taken n loops [], taken k squares [] with
      | Some (own_loops, loops'), Some (own_squares, squares') =>
          match path with
          | None => leaves rest others loops' squares' found
          | Some t =>
              match leaf_bound t own_loops own_squares with
              | Some b => leaves rest others loops' squares' (lesser found b)
              | None => None
              end
          end
      | _, _ => None
      end
  | Exact is_cover vs :: rest, path :: others =>
      if (match taken 25 vs [] with None => true | Some _ => negb is_cover end)
         && forallb is_vertex vs && all_fresh vs
      then match path with
           | None => leaves rest others loops squares found
           | Some t =>
               match exact_bound is_cover t vs with
               | Some b => leaves rest others loops squares (lesser found b)
               | None => None
               end
           end
      else None
  end.

Section Proof.
Hypothesis unit_positive : 0 <= unit.
Hypothesis over_positive : 0 < over.
Hypothesis g_sign : forall v, sign (g v).
Variable s : state.
Hypothesis steps : (whole_step | energy s terms - at_state).

Lemma round_bound x d low e : 0 <= d -> (d | e - x) -> low <= over * e -> round x d low <= e.
Proof.
  intros Hd [q Hq] Hl; unfold round.
  destruct (Z.eqb_spec d 0) as [-> | Hn]; [lia |].
  assert (Hp : 0 < over * d) by (apply Z.mul_pos_pos; lia).
  assert (He : e = x + q * d) by lia.
  assert (K : - q <= (x * over - low) / (over * d)).
  { apply Z.div_le_lower_bound; auto. rewrite He in Hl; lia. }
  nia.
Qed.

Lemma take_parts_covers t loops squares e a a' :
  obeys s t -> covers s e a -> take_parts t loops squares a = Some a' -> covers s e a'.
Proof.
  intros Ht Ha; unfold take_parts.
  destruct (fold_some (take_loop vertex g t unit) loops a) as [b |] eqn:E; [| discriminate].
  intros K; refine (fold_some_keeps (covers s e) _ _ _ _ _ _ K).
  - intros; eapply take_square_covers; eauto.
  - refine (fold_some_keeps (covers s e) _ _ _ _ _ Ha E).
    intros; eapply take_loop_covers; eauto.
Qed.

Lemma step_nonnegative p : 0 <= step p.
Proof. unfold step; pose proof (Z.gcd_nonneg (2 * gcd_of p) (gcd_of (sums_at_spins p))); lia. Qed.

Lemma leaf_bound_holds t loops squares b :
  0 <= whole_step -> obeys s t -> leaf_bound t loops squares = Some b -> b <= energy s terms.
Proof.
  intros Hw Ht; unfold leaf_bound.
  set (small := gather t terms).
  assert (Hs : weigh (product s) small = energy s terms) by (apply weigh_gather; auto).
  destruct (take_parts _ common_loops _ _) as [a |] eqn:E1; [| discriminate].
  destruct (take_parts _ loops _ _) as [[rest low] |] eqn:E2; [| discriminate].
  assert (H0 : covers s (over * energy s terms) (map_tree (fun _ c => over * c) small, 0)).
  { unfold covers; cbn [fst snd]; rewrite weigh_map, Hs; lia. }
  apply (take_parts_covers _ _ _ _ _ _ Ht H0) in E1.
  apply (take_parts_covers _ _ _ _ _ _ Ht E1) in E2.
  unfold covers in E2; cbn [fst snd] in E2.
  intros [= <-].
  pose proof (lower_bound s rest); pose proof (lower_bound s small) as Hl.
  assert (Hb : Z.max (over * lower small) (lower rest + low) <= over * energy s terms)
    by (apply Z.max_lub; nia).
  apply Z.max_lub; apply round_bound; auto using step_nonnegative.
  rewrite <- Hs; apply step_divides.
Qed.

Lemma exact_bound_holds is_cover t vs b :
  obeys s t -> exact_bound is_cover t vs = Some b -> b <= energy s terms.
Proof.
  unfold exact_bound; intros Ht H; rewrite <- (weigh_gather s t) by auto.
  destruct is_cover; [eapply least_of_cover_bound | eapply least_of_order_bound]; eauto.
Qed.

(** The state is bounded already, or one of the paths that wait leads to it. *)
Definition awaited (waiting : list (option ties)) (found : option Z) : Prop :=
  (exists b, found = Some b /\ b <= energy s terms) \/ (exists t, In (Some t) waiting /\ obeys s t).

Lemma awaited_lesser path others found b :
  awaited (path :: others) found ->
  (forall t, path = Some t -> obeys s t -> b <= energy s terms) ->
  awaited others (lesser found b).
Proof.
  intros [(a & -> & Ha) | (t & [Ht | Ht] & Ho)] Hb; unfold awaited.
  - left; exists (Z.min a b); split; [reflexivity | lia].
  - left; specialize (Hb t Ht Ho); destruct found as [a |]; simpl; eexists; split; eauto; lia.
  - right; exists t; auto.
Qed.

Lemma awaited_nothing others found : awaited (None :: others) found -> awaited others found.
Proof.
  intros [H | (t & [Ht | Ht] & Ho)]; [left; auto | discriminate | right; exists t; auto].
Qed.

Lemma awaited_branch a b path others found :
  awaited (path :: others) found ->
  awaited (extended a b 1 path :: extended a b (-1) path :: others) found.
Proof.
  intros [H | (t & [Ht | Ht] & Ho)]; [left; auto | | right; exists t; simpl; auto].
  subst path; right; simpl.
  assert (X : exists x, sign x /\ spin s a = x * spin s b).
  { exists (spin s a * spin s b); split; [apply sign_times; apply spin_sign |].
    rewrite <- Z.mul_assoc, sign_square by apply spin_sign; ring. }
  destruct X as (x & Hx & Hab); pose proof (join_obeys s t a b x Ho Hab) as J.
  destruct (join a b x t) as [t' |] eqn:E; [| destruct J].
  exists t'; split; auto; destruct Hx; subst x; auto.
Qed.

Lemma leaves_hold rows waiting loops squares found b :
  0 <= whole_step -> awaited waiting found ->
  leaves rows waiting loops squares found = Some b -> b <= energy s terms.
Proof.
  intros Hw; revert waiting loops squares found.
  induction rows as [| row rest IH]; intros [| path others] loops squares found Ha; simpl;
    try (destruct row; discriminate); try discriminate.
  - destruct loops, squares; try discriminate; intros ->.
    destruct Ha as [(a & [= ->] & H) | (t & [] & _)]; exact H.
  - destruct row as [a c | n k | is_cover vs].
    + destruct (_ && _); [| discriminate]. apply IH, awaited_branch, Ha.
    + destruct (taken n loops []) as [[own_loops loops'] |]; [| discriminate].
      destruct (taken k squares []) as [[own_squares squares'] |]; [| discriminate].
      destruct path as [t |]; [| apply IH, awaited_nothing, Ha].
      destruct (leaf_bound t own_loops own_squares) as [b' |] eqn:E; [| discriminate].
      apply IH; eapply awaited_lesser; [exact Ha |].
      intros t' [= <-] Ht; eapply leaf_bound_holds; eauto.
    + destruct (_ && _); [| discriminate].
      destruct path as [t |]; [| apply IH, awaited_nothing, Ha].
      destruct (exact_bound is_cover t vs) as [b' |] eqn:E; [| discriminate].
      apply IH; eapply awaited_lesser; [exact Ha |].
      intros t' [= <-] Ht; eapply exact_bound_holds; eauto.
Qed.

End Proof.
End Check.
