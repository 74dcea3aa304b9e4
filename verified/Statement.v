(** What the verified checker proves: all definitions that the theorem needs.

    The theorem itself is [checker_is_correct] at the end of Correctness.v. Everything here is
    meant to be read; nothing else has to be, except for the readers of files in Reading.v. *)

Require Import ZArith List Bool.
Import ListNotations.
Open Scope Z_scope.

(** ** States

    A state makes every variable 1, 2, 3, ... true (spin +1) or false (spin -1). Vertex 0 is the
    ghost: its spin is +1 in every state, and its edges are the fields. *)

Definition state := Z -> bool.

Definition spin (s : state) (v : Z) : Z := if (v =? 0) || s v then 1 else -1.

(** The sum of [f x] over a list. *)
Definition total {A} (f : A -> Z) (l : list A) : Z := fold_left (fun t x => t + f x) l 0.

(** A monomial is a product of spins, so it is +1 or -1. A polynomial is a sum of monomials with
    integer coefficients. Problems of pairs have monomials of at most two spins. *)

Definition monomial := list Z.
Definition polynomial := list (monomial * Z).

Fixpoint product (s : state) (m : monomial) : Z :=
  match m with [] => 1 | v :: n => spin s v * product s n end.

Definition energy (s : state) (p : polynomial) : Z := total (fun t => snd t * product s (fst t)) p.

(** ** Problems *)

(** Literals are those of DIMACS: the variable k is k, its negation is -k. A clause has any number of
    them. *)
Definition holds (s : state) (l : Z) : bool := if 0 <? l then s l else negb (s (- l)).

Definition broken (s : state) (clause : list Z) : bool := forallb (fun l => negb (holds s l)) clause.

Inductive problem :=
| Clauses (soft : list (Z * list Z)) (hard : list (list Z)) (** minimise the weight of broken soft clauses *)
| Graph (edges : list (Z * Z * Z))    (** (a, b, w): maximise the weight of edges whose ends differ *)
| Qubo (entries : list (Z * Z * Z))   (** (i, j, q): minimise x'Qx; q is both Q_ij and Q_ji *)
| Spins (terms : polynomial).         (** minimise the polynomial *)

Definition cut_by (s : state) (e : Z * Z * Z) : Z :=
  let '(a, b, w) := e in if spin s a =? spin s b then 0 else w.

Definition entry_in (s : state) (e : Z * Z * Z) : Z :=
  let '(i, j, q) := e in if s i && s j then (if i =? j then q else 2 * q) else 0.

(** The value of a state: its cost, its cut, or its energy. A state that breaks a hard clause does
    not count, so it has none. *)
Definition value (p : problem) (s : state) : option Z :=
  match p with
  | Clauses soft hard =>
      if forallb (fun clause => negb (broken s clause)) hard
      then Some (total (fun c => if broken s (snd c) then fst c else 0) soft) else None
  | Graph edges => Some (total (cut_by s) edges)
  | Qubo entries => Some (total (entry_in s) entries)
  | Spins terms => Some (energy s terms)
  end.

(** ** Verdicts *)

(** The state that the digits of a certificate stand for: the k-th digit is the variable k. *)
Definition assignment (digits : list bool) : state :=
  fun v => (1 <=? v) && nth (Z.to_nat (v - 1)) digits false.

Inductive verdict :=
| Optimum (v : Z)   (** the certificate's state has the value v, and no state has a better one *)
| Bound (b v : Z).  (** the certificate's state has the value v, and no state has one better than b *)

(** Cuts are maximised, everything else is minimised. *)
Definition no_better (p : problem) (w v : Z) : Prop :=
  match p with Graph _ => w <= v | _ => v <= w end.

Definition true_verdict (p : problem) (s : state) (r : verdict) : Prop :=
  match r with
  | Optimum v => value p s = Some v /\ forall s' w, value p s' = Some w -> no_better p w v
  | Bound b v => value p s = Some v /\ forall s' w, value p s' = Some w -> no_better p w b
  end.
