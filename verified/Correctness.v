(** The theorem: what the program prints is true. *)

Require Import ZArith List.
From Verified Require Import Statement Check Reading.

(** The whole checker: the kind and the bytes of a problem file, and the bytes of a certificate. *)
Definition judge (k : kind) (problem_text certificate_text : text) : option verdict :=
  match read_problem k problem_text, read_certificate certificate_text with
  | Some (p, size, offset), Some c => check p size offset c
  | _, _ => None
  end.

Theorem checker_is_correct :
  forall k problem_text certificate_text r,
  judge k problem_text certificate_text = Some r ->
  exists p size offset c,
    read_problem k problem_text = Some (p, size, offset) /\
    read_certificate certificate_text = Some c /\
    true_verdict p (assignment (digits c)) r.
Proof.
  intros k t u r; unfold judge.
  destruct (read_problem k t) as [[[p size] offset] |]; [| discriminate].
  destruct (read_certificate u) as [c |]; [| discriminate].
  intros H; exists p, size, offset, c; repeat split; auto.
  apply (check_is_correct p size offset c r H).
Qed.

Print Assumptions checker_is_correct.
