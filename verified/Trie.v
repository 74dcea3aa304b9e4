(** Maps from numbers to anything, as binary tries: the digits of a number lead to its value.

    Unlike the trees of Tree.v, tries are proven to keep what other numbers have. *)

Require Import ZArith List Lia.
From Verified Require Import Statement.
Import ListNotations.
Open Scope Z_scope.

Inductive trie (A : Type) := Bare | Twig (l : trie A) (o : option A) (r : trie A).
Arguments Bare {A}.
Arguments Twig {A}.

Section Tries.
Context {A : Type}.
Implicit Types (t l r : trie A) (x : A).

Fixpoint get (p : positive) t : option A :=
  match t, p with
  | Bare, _ => None
  | Twig _ o _, xH => o
  | Twig l _ _, xO q => get q l
  | Twig _ _ r, xI q => get q r
  end.

Definition twigs t : trie A * option A * trie A := match t with Bare => (Bare, None, Bare) | Twig l o r => (l, o, r) end.

Fixpoint set (p : positive) x t : trie A :=
  let '(l, o, r) := twigs t in
  match p with xH => Twig l (Some x) r | xO q => Twig (set q x l) o r | xI q => Twig l o (set q x r) end.

(** The value of a number; 0 and numbers below have none. *)
Definition at_number (k : Z) t : option A := match k with Zpos p => get p t | _ => None end.

(** The elements of a list, numbered from k on. *)
Fixpoint numbered (k : Z) (xs : list A) t : trie A :=
  match xs with [] => t | x :: rest => numbered (k + 1) rest (set (Z.to_pos k) x t) end.

Lemma get_set p x t : get p (set p x t) = Some x.
Proof. revert t; induction p; intros [| l o r]; simpl; auto. Qed.

Lemma get_set_other q p x t : q <> p -> get q (set p x t) = get q t.
Proof.
  revert q t; induction p as [p IH | p IH |]; intros [q | q |] [| l o r] N; simpl; try congruence;
    try (rewrite IH by congruence); destruct q; reflexivity.
Qed.

Definition every (P : A -> Prop) t : Prop := forall p x, get p t = Some x -> P x.

Lemma every_bare (P : A -> Prop) : every P Bare.
Proof. intros p x; destruct p; discriminate. Qed.

Lemma every_set (P : A -> Prop) p x t : P x -> every P t -> every P (set p x t).
Proof.
  intros Hx Ht q y; destruct (Pos.eq_dec q p) as [-> | N].
  - rewrite get_set; intros [= <-]; exact Hx.
  - rewrite get_set_other by exact N; apply Ht.
Qed.

Lemma every_numbered (P : A -> Prop) k xs t : Forall P xs -> every P t -> every P (numbered k xs t).
Proof.
  intros H; revert k t; induction H as [| x xs Hx Hxs IH]; intros k t Ht; simpl; auto.
  apply IH, every_set; auto.
Qed.

(** The sum of [f] over all values. *)
Fixpoint sum_of (f : A -> Z) t : Z :=
  match t with
  | Bare => 0
  | Twig l o r => sum_of f l + match o with Some x => f x | None => 0 end + sum_of f r
  end.

Lemma sum_set f p x t :
  sum_of f (set p x t) = sum_of f t - match get p t with Some y => f y | None => 0 end + f x.
Proof.
  revert t; induction p as [p IH | p IH |]; intros [| l o r]; simpl; rewrite ?IH; simpl; try lia;
    destruct p; simpl; lia.
Qed.

Lemma sum_nonnegative f t : every (fun x => 0 <= f x) t -> 0 <= sum_of f t.
Proof.
  induction t as [| l IHl o r IHr]; intros H; simpl; [lia |].
  assert (0 <= sum_of f l) by (apply IHl; intros p; apply (H (xO p))).
  assert (0 <= sum_of f r) by (apply IHr; intros p; apply (H (xI p))).
  destruct o as [x |]; [pose proof (H xH x eq_refl); simpl in * |]; lia.
Qed.

End Tries.
