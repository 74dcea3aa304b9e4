(** Maps from monomials to anything, as balanced trees.

    No proof needs the order or the balance of a tree: both only make it fast. What is proven is
    that sums over all entries, and properties of all entries, are as expected. *)

Require Import ZArith List Bool Lia.
From Verified Require Import Statement.
Import ListNotations.
Open Scope Z_scope.
Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.

Fixpoint compare (m n : monomial) : comparison :=
  match m, n with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | x :: m', y :: n' => match x ?= y with Eq => compare m' n' | other => other end
  end.

Lemma compare_equal m n : compare m n = Eq -> m = n.
Proof.
  revert n; induction m as [| x m IH]; intros [| y n]; simpl; try discriminate; auto.
  destruct (x ?= y) eqn:E; try discriminate; intros H.
  apply Z.compare_eq in E; subst; f_equal; auto.
Qed.

Inductive tree (V : Type) := Empty | Node (h : Z) (l : tree V) (m : monomial) (v : V) (r : tree V).
Arguments Empty {V}.
Arguments Node {V}.

Section Trees.
Context {V : Type}.
Implicit Types (t l r : tree V) (m : monomial) (v : V).

Definition height t := match t with Empty => 0 | Node h _ _ _ _ => h end.

Definition node l m v r := Node (1 + Z.max (height l) (height r)) l m v r.

Definition balance l m v r :=
  if height r + 2 <? height l then
    match l with
    | Empty => node l m v r
    | Node _ ll lm lv lr =>
        if height lr <=? height ll then node ll lm lv (node lr m v r)
        else match lr with
             | Empty => node l m v r
             | Node _ a n w b => node (node ll lm lv a) n w (node b m v r)
             end
    end
  else if height l + 2 <? height r then
    match r with
    | Empty => node l m v r
    | Node _ rl rm rv rr =>
        if height rl <=? height rr then node (node l m v rl) rm rv rr
        else match rl with
             | Empty => node l m v r
             | Node _ a n w b => node (node l m v a) n w (node b rm rv rr)
             end
    end
  else node l m v r.

(** Replace the value at [m] by what [f] makes of it. *)
Fixpoint update (f : option V -> V) m t : tree V :=
  match t with
  | Empty => Node 1 Empty m (f None) Empty
  | Node h l n v r =>
      match compare m n with
      | Eq => Node h l n (f (Some v)) r
      | Lt => balance (update f m l) n v r
      | Gt => balance l n v (update f m r)
      end
  end.

Fixpoint find m t : option V :=
  match t with
  | Empty => None
  | Node _ l n v r => match compare m n with Eq => Some v | Lt => find m l | Gt => find m r end
  end.

Fixpoint map_tree (f : monomial -> V -> V) t : tree V :=
  match t with
  | Empty => Empty
  | Node h l m v r => Node h (map_tree f l) m (f m v) (map_tree f r)
  end.

Fixpoint fold_tree {A} (f : A -> monomial -> V -> A) t (a : A) : A :=
  match t with
  | Empty => a
  | Node _ l m v r => fold_tree f r (f (fold_tree f l a) m v)
  end.

(** A property of all entries. *)
Fixpoint all (P : monomial -> V -> Prop) t : Prop :=
  match t with Empty => True | Node _ l m v r => all P l /\ P m v /\ all P r end.

Lemma all_balance P l m v r : all P l -> P m v -> all P r -> all P (balance l m v r).
Proof.
  unfold balance; destruct (_ <? _); [destruct l as [| ? ? ? ? []]; try destruct (_ <=? _) |
    destruct (_ <? _); [destruct r as [| ? [] ? ? ?]; try destruct (_ <=? _) |]]; simpl; tauto.
Qed.

Lemma all_update (P : monomial -> V -> Prop) f m t :
  (forall o, match o with Some v => P m v | None => True end -> P m (f o)) ->
  all P t -> all P (update f m t).
Proof.
  intros Hf; induction t as [| h l IHl n v r IHr]; simpl.
  - intros _; split; [exact I | split; [apply (Hf None); exact I | exact I]].
  - intros (Hl & Hv & Hr); destruct (compare m n) eqn:E.
    + apply compare_equal in E; subst n; simpl; split; [| split]; auto; apply (Hf (Some v)); auto.
    + apply all_balance; auto.
    + apply all_balance; auto.
Qed.

Lemma all_find (P : monomial -> V -> Prop) m v t : all P t -> find m t = Some v -> P m v.
Proof.
  induction t as [| h l IHl n w r IHr]; simpl; [discriminate |].
  intros (Hl & Hw & Hr); destruct (compare m n) eqn:E; auto.
  intros [= <-]; apply compare_equal in E; subst; auto.
Qed.

Lemma all_map (P Q : monomial -> V -> Prop) f t :
  (forall m v, P m v -> Q m (f m v)) -> all P t -> all Q (map_tree f t).
Proof. intros H; induction t; simpl; intuition. Qed.

Lemma all_fold {A} (P : monomial -> V -> Prop) (I : A -> Prop) f t a :
  (forall a m v, I a -> P m v -> I (f a m v)) -> all P t -> I a -> I (fold_tree f t a).
Proof. intros H; revert a; induction t; simpl; intuition. Qed.

Lemma all_true (P : monomial -> V -> Prop) t : (forall m v, P m v) -> all P t.
Proof. intros H; induction t; simpl; auto. Qed.

End Trees.

(** ** Polynomials as trees *)

(** The sum of [f m * c] over all entries. *)
Fixpoint weigh (f : monomial -> Z) (t : tree Z) : Z :=
  match t with Empty => 0 | Node _ l m c r => weigh f l + f m * c + weigh f r end.

Definition plus (c : Z) (o : option Z) : Z := match o with Some d => d + c | None => c end.

(** Add [c] to the coefficient of [m]. *)
Definition add (m : monomial) (c : Z) (t : tree Z) : tree Z := update (plus c) m t.

Lemma weigh_balance f l m c r : weigh f (balance l m c r) = weigh f l + f m * c + weigh f r.
Proof.
  unfold balance; destruct (_ <? _); [destruct l as [| ? ? ? ? []]; try destruct (_ <=? _) |
    destruct (_ <? _); [destruct r as [| ? [] ? ? ?]; try destruct (_ <=? _) |]]; simpl; ring.
Qed.

Lemma weigh_add f m c t : weigh f (add m c t) = weigh f t + f m * c.
Proof.
  unfold add; induction t as [| h l IHl n d r IHr]; simpl; [ring |].
  destruct (compare m n) eqn:E; rewrite ?weigh_balance.
  - apply compare_equal in E; subst; simpl; ring.
  - rewrite IHl; ring.
  - rewrite IHr; ring.
Qed.

Lemma weigh_map f k t : weigh f (map_tree (fun _ c => k * c) t) = k * weigh f t.
Proof. induction t as [| h l IHl m c r IHr]; simpl; [ring |]. rewrite IHl, IHr; ring. Qed.

(** The terms of a tree without those that cancelled. *)
Definition entries (t : tree Z) : polynomial :=
  rev_append (fold_tree (fun l m c => if c =? 0 then l else (m, c) :: l) t []) [].
