(** Leaves without parts: all states of a few vertices are enumerated, and every other spin follows
    its own field. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement Tree Polynomials Bricks.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

(** A polynomial whose first spins are split off: [Split a b] is a + s b with the first spin s. *)
Inductive nest := Nothing | Flat (p : polynomial) | Split (a b : nest).

(** [rev acc ++ (a + x b)], both sorted. *)
Fixpoint merge (x : Z) (a : polynomial) : polynomial -> polynomial -> polynomial :=
  match a with
  | [] => fun b acc => rev_append (fold_left (fun l e => (fst e, x * snd e) :: l) b acc) []
  | e :: a' =>
      fix inner b acc :=
        match b with
        | [] => rev_append acc a
        | f :: b' =>
            match compare (fst e) (fst f) with
            | Eq => merge x a' b' ((fst e, snd e + x * snd f) :: acc)
            | Lt => merge x a' b (e :: acc)
            | Gt => inner b' ((fst f, x * snd f) :: acc)
            end
        end
  end.

Fixpoint scaled (x : Z) (b : nest) : nest :=
  match b with
  | Nothing => Nothing
  | Flat q => Flat (merge x [] q [])
  | Split c d => Split (scaled x c) (scaled x d)
  end.

Fixpoint under (p : polynomial) (x : Z) (b : nest) : nest :=
  match b with
  | Nothing => Flat p
  | Flat q => Flat (merge x p q [])
  | Split c d => Split (under p x c) (scaled x d)
  end.

(** a + x b *)
Fixpoint blend (x : Z) (a b : nest) : nest :=
  match a, b with
  | Nothing, _ => scaled x b
  | Flat p, _ => under p x b
  | Split c d, Nothing => a
  | Split c d, Flat q => Split (blend x c b) d
  | Split c d, Split e f => Split (blend x c e) (blend x d f)
  end.

Fixpoint remove (v : Z) (m : monomial) : option monomial :=
  match m with
  | [] => None
  | x :: m' =>
      if x =? v then Some m' else match remove v m' with Some n => Some (x :: n) | None => None end
  end.

(** The terms without a spin, and those with it, divided by it. *)
Definition parted (v : Z) (p : polynomial) : tree Z * tree Z :=
  fold_left (fun found e => match remove v (fst e) with
                            | None => (add (fst e) (snd e) (fst found), snd found)
                            | Some n => (fst found, add n (snd e) (snd found))
                            end) p (Empty, Empty).

Fixpoint nested (vs : list Z) (p : polynomial) : nest :=
  match p, vs with
  | [], _ => Nothing
  | _, [] => Flat p
  | _, v :: vs' => let (a, b) := parted v p in Split (nested vs' (entries a)) (nested vs' (entries b))
  end.

Definition floor (p : polynomial) : Z :=
  fold_left (fun t e => match fst e with [] => t + snd e | _ => t - Z.abs (snd e) end) p 0.

Fixpoint least (vs : list Z) (n : nest) : option Z :=
  match n, vs with
  | Nothing, _ => Some 0
  | Flat p, _ => Some (floor p)
  | Split _ _, [] => None
  | Split a b, _ :: vs' =>
      match least vs' (blend 1 a b), least vs' (blend (-1) a b) with
      | Some x, Some y => Some (Z.min x y)
      | _, _ => None
      end
  end.

(** Whether no two spins are left in one term. *)
Fixpoint closed (n : nest) : bool :=
  match n with
  | Nothing => true
  | Flat p => forallb (fun e => match fst e with _ :: _ :: _ => false | _ => true end) p
  | Split a b => closed a && closed b
  end.

Definition least_of_cover (vs : list Z) (p : tree Z) : option Z :=
  let n := nested vs (entries p) in if closed n then least vs n else None.

Section Worth.
Variable s : state.

Fixpoint worth (xs : list Z) (n : nest) : Z :=
  match n with
  | Nothing => 0
  | Flat p => linear s p
  | Split a b => worth (tl xs) a + hd 1 xs * worth (tl xs) b
  end.

Lemma linear_cons e p : linear s (e :: p) = product s (fst e) * snd e + linear s p.
Proof. unfold linear; rewrite total_cons; reflexivity. Qed.

Lemma linear_rev_append a b : linear s (rev_append a b) = linear s a + linear s b.
Proof.
  revert b; induction a as [| e a IH]; intros b; simpl; [unfold linear; rewrite total_nil; lia |].
  rewrite IH, !linear_cons; lia.
Qed.

Lemma linear_merge x a b acc : linear s (merge x a b acc) = linear s acc + linear s a + x * linear s b.
Proof.
  assert (N : linear s [] = 0) by reflexivity.
  revert b acc; induction a as [| e a IH]; intros b acc.
  - simpl; rewrite linear_rev_append, N.
    assert (H : forall l acc, linear s (fold_left (fun l e => (fst e, x * snd e) :: l) l acc)
                          = linear s acc + x * linear s l).
    { induction l as [| f l IHl]; intros r; simpl; [rewrite N; lia |].
      rewrite IHl, !linear_cons; simpl; ring. }
    rewrite H; lia.
  - revert acc; induction b as [| f b IHb]; intros acc.
    + simpl; rewrite linear_rev_append, N; lia.
    + change (merge x (e :: a) (f :: b) acc) with
        (match compare (fst e) (fst f) with
         | Eq => merge x a b ((fst e, snd e + x * snd f) :: acc)
         | Lt => merge x a (f :: b) (e :: acc)
         | Gt => merge x (e :: a) b ((fst f, x * snd f) :: acc)
         end).
      destruct (compare (fst e) (fst f)) eqn:E.
      * apply compare_equal in E; rewrite IH, !linear_cons; simpl; rewrite E; ring.
      * rewrite IH, !linear_cons; ring.
      * rewrite IHb, !linear_cons; simpl; ring.
Qed.

Local Arguments merge : simpl never.

Lemma worth_scaled x b xs : worth xs (scaled x b) = x * worth xs b.
Proof.
  revert xs; induction b as [| q | c IHc d IHd]; intros xs; simpl.
  - ring.
  - rewrite (linear_merge x [] q []); unfold linear at 1 2; rewrite !total_nil; ring.
  - rewrite IHc, IHd; ring.
Qed.

Lemma worth_under p x b xs : worth xs (under p x b) = linear s p + x * worth xs b.
Proof.
  revert xs; induction b as [| q | c IHc d IHd]; intros xs; simpl.
  - ring.
  - rewrite linear_merge; unfold linear at 1; rewrite total_nil; ring.
  - rewrite IHc, worth_scaled; ring.
Qed.

Lemma worth_blend x a b xs : worth xs (blend x a b) = worth xs a + x * worth xs b.
Proof.
  revert b xs; induction a as [| p | c IHc d IHd]; intros b xs.
  - destruct b; simpl; rewrite ?worth_scaled, ?linear_merge; try ring.
    unfold linear at 1 2; rewrite !total_nil; ring.
  - destruct b; simpl; rewrite ?worth_under, ?worth_scaled, ?linear_merge; try ring.
    unfold linear at 1; rewrite total_nil; ring.
  - destruct b; simpl; rewrite ?IHc, ?IHd; simpl; ring.
Qed.

Lemma product_remove v m n : remove v m = Some n -> product s m = spin s v * product s n.
Proof.
  revert n; induction m as [| x m IH]; intros n; simpl; [discriminate |].
  destruct (Z.eqb_spec x v) as [-> | _]; [intros [= ->]; reflexivity |].
  destruct (remove v m) as [n' |]; [| discriminate]; intros [= <-].
  simpl; rewrite (IH n' eq_refl); ring.
Qed.

Lemma weigh_parted v p :
  weigh (product s) (fst (parted v p)) + spin s v * weigh (product s) (snd (parted v p)) = linear s p.
Proof.
  unfold parted.
  set (f := fun found e => _).
  enough (H : forall q, weigh (product s) (fst (fold_left f p q))
                + spin s v * weigh (product s) (snd (fold_left f p q))
              = weigh (product s) (fst q) + spin s v * weigh (product s) (snd q) + linear s p)
    by (rewrite H; simpl; lia).
  induction p as [| e p IH]; intros q; simpl; [unfold linear; rewrite total_nil; lia |].
  rewrite IH, linear_cons; unfold f.
  destruct (remove v (fst e)) as [n |] eqn:E; simpl; rewrite weigh_add; [| lia].
  rewrite (product_remove _ _ _ E); ring.
Qed.

Lemma worth_nested vs p : worth (map (spin s) vs) (nested vs p) = linear s p.
Proof.
  revert p; induction vs as [| v vs IH]; intros p; [destruct p; reflexivity |].
  destruct p as [| e p]; [reflexivity |].
  rewrite <- (weigh_parted v (e :: p)); simpl nested.
  destruct (parted v (e :: p)) as [a b]; simpl; rewrite !IH; unfold linear.
  rewrite !total_entries; reflexivity.
Qed.

Lemma floor_bound p : floor p <= linear s p.
Proof.
  unfold floor.
  enough (H : forall a, fold_left (fun t (e : monomial * Z) => match fst e with
     [] => t + snd e | _ => t - Z.abs (snd e) end) p a <= a + linear s p) by apply (H 0).
  induction p as [| e p IH]; intros a; [unfold linear; rewrite total_nil; simpl; lia |].
  simpl; eapply Z.le_trans; [apply IH |]; rewrite linear_cons.
  pose proof (product_sign s (fst e)) as [K | K]; destruct (fst e); try discriminate; rewrite K; lia.
Qed.

Lemma least_bound vs n l : least vs n = Some l -> l <= worth (map (spin s) vs) n.
Proof.
  revert n l; induction vs as [| v vs IH]; intros [| p | a b] l; simpl; try discriminate;
    try (intros [= <-]; first [lia | apply floor_bound]).
  destruct (least vs (blend 1 a b)) as [x |] eqn:X; [| discriminate].
  destruct (least vs (blend (-1) a b)) as [y |] eqn:Y; [| discriminate].
  intros [= <-]; apply IH in X; apply IH in Y; rewrite worth_blend in X, Y.
  destruct (spin_sign s v) as [-> | ->]; lia.
Qed.

Lemma least_of_cover_bound vs p l : least_of_cover vs p = Some l -> l <= weigh (product s) p.
Proof.
  unfold least_of_cover; destruct (closed _); [| discriminate]; intros H.
  apply least_bound in H; rewrite worth_nested in H; unfold linear in H.
  rewrite total_entries in H; exact H.
Qed.

End Worth.
