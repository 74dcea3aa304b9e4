(** Leaves whose spins are eliminated one by one: the least value over a spin is a table over others. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement Tree Polynomials.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never. Local Arguments Z.add : simpl never.

(** A function of spins. [Split k v a b] is [a] if the spin of v is +1, and else [b]; the spin has the
    rank k in the order. Nothing that is proven depends on the ranks. *)
Inductive table := Value (c : Z) | Split (k v : Z) (a b : table).

(** Combine the values of two tables; the spin of the lower rank splits first. *)
Fixpoint lift (f : Z -> Z -> Z) (t : table) : table -> table :=
  match t with
  | Value c =>
      fix inner u := match u with Value d => Value (f c d) | Split l w d e => Split l w (inner d) (inner e) end
  | Split k v a b =>
      fix inner u :=
        match u with
        | Value _ => Split k v (lift f a u) (lift f b u)
        | Split l w d e =>
            if l <? k then Split l w (inner d) (inner e)
            else if (l =? k) && (v =? w) then Split k v (lift f a d) (lift f b e)
            else Split k v (lift f a u) (lift f b u)
        end
  end.

(** The least value over the first spin of a table. *)
Definition lowered (t : table) : table := match t with Value _ => t | Split _ _ a b => lift Z.min a b end.

Fixpoint path (t : table) (seen : tree bool) : tree bool :=
  match t with Value _ => seen | Split k _ a _ => path a (update (fun _ => true) [k] seen) end.

(** Whether some tables together have at most 25 spins. *)
Definition is_narrow (l : list table) : bool :=
  fold_tree (fun n _ _ => n + 1) (fold_left (fun seen t => path t seen) l Empty) 0 <=? 25.

(** Tables by the rank of their first spin, and the sum of all values without spins. *)
Definition buckets := (tree (list table) * Z)%type.

Definition put_table (t : table) (b : buckets) : buckets :=
  match t with
  | Value c => (fst b, snd b + c)
  | Split k _ _ _ => (update (fun o => match o with Some l => t :: l | None => [t] end) [k] (fst b), snd b)
  end.

Definition eliminate (k : Z) (b : buckets) : option buckets :=
  match find [k] (fst b) with
  | None => Some b | Some l =>
      if is_narrow l
      then Some (put_table (lowered (fold_left (lift Z.add) l (Value 0))) (update (fun _ => []) [k] (fst b), snd b))
      else None
  end.

Definition are_gone (t : tree (list table)) : bool :=
  fold_tree (fun e _ l => e && match l with [] => true | _ => false end) t true.

Fixpoint eliminate_all (vs : list Z) (k : Z) (b : buckets) : option Z :=
  match vs with
  | [] => if are_gone (fst b) then Some (snd b) else None
  | _ :: rest => match eliminate k b with Some b' => eliminate_all rest (k + 1) b' | None => None end
  end.

(** The table of a term; [rank] has the ranks of all vertices. *)
Fixpoint term (rank : tree Z) (m : monomial) (c : Z) : option table :=
  match m with
  | [] => Some (Value c)
  | v :: m' =>
      match find [v] rank, term rank m' c with
      | Some k, Some t => Some (lift Z.mul (Split k v (Value 1) (Value (-1))) t)
      | _, _ => None
      end
  end.

Fixpoint loaded (rank : tree Z) (p : polynomial) (b : buckets) : option buckets :=
  match p with
  | [] => Some b
  | e :: p' =>
      match term rank (fst e) (snd e) with Some t => loaded rank p' (put_table t b) | None => None end
  end.

(** The order consists of distinct vertices. A term of three and more spins is refused. *)
Definition least_of_order (vs : list Z) (p : tree Z) : option Z :=
  let rank := snd (fold_left (fun e v => (fst e + 1, update (fun _ => fst e) [v] (snd e))) vs (0, Empty)) in
  if forallb (fun e => match fst e with _ :: _ :: _ :: _ => false | _ => true end) (entries p)
  then match loaded rank (entries p) (Empty, 0) with Some b => eliminate_all vs 0 b | None => None end
  else None.

Section Worth.
Variable s : state.

Fixpoint worth (t : table) : Z :=
  match t with Value c => c | Split _ v a b => if spin s v =? 1 then worth a else worth b end.

Fixpoint held (t : tree (list table)) : Z :=
  match t with Empty => 0 | Node _ l _ v r => held l + total worth v + held r end.

Definition sum (b : buckets) : Z := held (fst b) + snd b.

Lemma worth_lift f t u : worth (lift f t u) = f (worth t) (worth u).
Proof.
  revert u; induction t as [c | k v a IHa b IHb]; intros u; induction u as [d | l w d IHd e IHe]; simpl; auto.
  - destruct (spin s w =? 1); auto.
  - rewrite IHa, IHb; simpl; destruct (spin s v =? 1); auto.
  - destruct (l <? k); [simpl in *; destruct (spin s w =? 1); auto |].
    destruct ((l =? k) && (v =? w)) eqn:E; simpl; rewrite IHa, IHb.
    + apply andb_true_iff in E; destruct E as [_ E]; apply Z.eqb_eq in E; subst w.
      destruct (spin s v =? 1); auto.
    + simpl; destruct (spin s v =? 1); auto.
Qed.

Lemma worth_lowered t : worth (lowered t) <= worth t.
Proof. destruct t as [c | k v a b]; simpl; [lia |]. rewrite worth_lift; destruct (_ =? 1); lia. Qed.

Lemma worth_sum l t : worth (fold_left (lift Z.add) l t) = worth t + total worth l.
Proof.
  revert t; induction l as [| u l IH]; intros t; simpl; [rewrite total_nil; lia |].
  rewrite IH, worth_lift, total_cons; lia.
Qed.

Lemma held_balance l m v r : held (balance l m v r) = held l + total worth v + held r.
Proof.
  unfold balance; destruct (_ <? _); [destruct l as [| ? ? ? ? []]; try destruct (_ <=? _) |
    destruct (_ <? _); [destruct r as [| ? [] ? ? ?]; try destruct (_ <=? _) |]]; simpl; ring.
Qed.

Definition worth_at (o : option (list table)) : Z := match o with Some l => total worth l | None => 0 end.

Lemma held_update f m t : held (update f m t) = held t - worth_at (find m t) + total worth (f (find m t)).
Proof.
  induction t as [| h l IHl n d r IHr]; simpl; [lia |].
  destruct (compare m n); rewrite ?held_balance, ?IHl, ?IHr; simpl; lia.
Qed.

Lemma sum_put_table t b : sum (put_table t b) = sum b + worth t.
Proof.
  unfold sum; destruct t as [c | k v x y]; cbn [put_table fst snd]; [simpl; lia |].
  rewrite held_update; destruct (find [k] _); cbn [worth_at]; rewrite ?total_cons, ?total_nil; lia.
Qed.

Lemma sum_eliminate k b b' : eliminate k b = Some b' -> sum b' <= sum b.
Proof.
  unfold eliminate; destruct (find [k] (fst b)) as [l |] eqn:E; [| intros [= <-]; lia].
  destruct (is_narrow l); [intros [= <-] | discriminate].
  rewrite sum_put_table; unfold sum; cbn [fst snd].
  rewrite held_update, E; cbn [worth_at]; rewrite total_nil.
  pose proof (worth_lowered (fold_left (lift Z.add) l (Value 0))) as H; rewrite worth_sum in H; simpl in H; lia.
Qed.

Lemma held_nothing t : are_gone t = true -> held t = 0.
Proof.
  unfold are_gone; set (f := fun e _ l => _).
  enough (H : forall e, fold_tree f t e = true -> e = true /\ held t = 0) by apply H.
  induction t as [| h l IHl m v r IHr]; intros e; simpl; [auto |].
  intros H; apply IHr in H; destruct H as [H R]; apply andb_true_iff in H; destruct H as [H V].
  apply IHl in H; destruct H as [-> L]; destruct v; [rewrite total_nil, L, R; auto | discriminate].
Qed.

Lemma eliminate_all_bound vs k b x : eliminate_all vs k b = Some x -> x <= sum b.
Proof.
  revert k b; induction vs as [| v vs IH]; intros k b; simpl.
  - destruct (are_gone _) eqn:E; [intros [= <-] | discriminate].
    apply held_nothing in E; unfold sum; lia.
  - destruct (eliminate k b) as [b' |] eqn:E; [| discriminate].
    intros H; apply IH in H; apply sum_eliminate in E; lia.
Qed.

Lemma worth_term rank m c t : term rank m c = Some t -> worth t = product s m * c.
Proof.
  revert t; induction m as [| v m IH]; intros t; cbn [term product]; [intros [= <-]; cbn [worth]; ring |].
  destruct (find [v] rank) as [k |]; [| discriminate].
  destruct (term rank m c) as [u |]; [| discriminate]; intros H.
  assert (E : t = lift Z.mul (Split k v (Value 1) (Value (-1))) u) by congruence.
  rewrite E, worth_lift, (IH u eq_refl); cbn [worth].
  destruct (spin_sign s v) as [-> | ->]; simpl Z.eqb; cbv iota; ring.
Qed.

Lemma sum_loaded rank p b b' :
  loaded rank p b = Some b' -> sum b' = sum b + total (fun e => product s (fst e) * snd e) p.
Proof.
  revert b; induction p as [| e p IH]; intros b; simpl; [intros [= <-]; rewrite total_nil; lia |].
  destruct (term _ _ _) as [t |] eqn:E; [| discriminate]; intros H; apply IH in H.
  rewrite H, sum_put_table, total_cons, (worth_term _ _ _ _ E); lia.
Qed.

Lemma least_of_order_bound vs p l : least_of_order vs p = Some l -> l <= weigh (product s) p.
Proof.
  unfold least_of_order; destruct (forallb _ _); [| discriminate].
  destruct (loaded _ _ _) as [b |] eqn:E; [| discriminate].
  intros H; apply eliminate_all_bound in H; apply sum_loaded in E; rewrite total_entries in E.
  unfold sum in E at 2; simpl in E; lia.
Qed.

End Worth.
