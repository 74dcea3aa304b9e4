(** The program: integers become those of zarith, everything else is extracted as it is. *)

From Coq Require Import ZArith List Extraction.
From Verified Require Import Statement Check Reading Correctness.

Extraction Language OCaml.

Extract Inductive bool => "bool" ["true" "false"].
Extract Inductive list => "list" ["[]" "(::)"].
Extract Inductive prod => "(*)" ["(,)"].
Extract Inductive option => "option" ["Some" "None"].
Extract Inlined Constant andb => "(&&)".
Extract Inlined Constant orb => "(||)".
Extract Inlined Constant negb => "not".
Extract Inlined Constant Bool.eqb => "Bool.equal".

Extract Inductive comparison => "int" ["0" "(-1)" "1"]
  "(fun eq lt gt c -> if c = 0 then eq () else if c < 0 then lt () else gt ())".
Extract Inductive positive => "Exact.t" ["(fun p -> Exact.succ (Exact.shift_left p 1))" "(fun p -> Exact.shift_left p 1)" "Exact.one"]
  "(fun xi xo xh p -> if Exact.equal p Exact.one then xh () else if Exact.testbit p 0 then xi (Exact.shift_right p 1) else xo (Exact.shift_right p 1))".
Extract Inductive Z => "Exact.t" ["Exact.zero" "(fun p -> p)" "Exact.neg"]
  "(fun zero pos neg z -> match Exact.sign z with 0 -> zero () | 1 -> pos z | _ -> neg (Exact.neg z))".

Extract Inlined Constant Z.add => "Exact.add".
Extract Inlined Constant Z.sub => "Exact.sub".
Extract Inlined Constant Z.mul => "Exact.mul".
Extract Inlined Constant Z.opp => "Exact.neg".
Extract Inlined Constant Z.abs => "Exact.abs".
Extract Inlined Constant Z.min => "Exact.min".
Extract Inlined Constant Z.max => "Exact.max".
Extract Inlined Constant Z.compare => "Exact.compare".
Extract Inlined Constant Z.eqb => "Exact.equal".
Extract Inlined Constant Z.ltb => "Exact.lt".
Extract Inlined Constant Z.leb => "Exact.leq".
Extract Inlined Constant Z.even => "Exact.is_even".
Extract Inlined Constant Z.gcd => "Exact.gcd".
Extract Inlined Constant Z.div => "Exact.floor_div".
Extract Inlined Constant Z.modulo => "Exact.floor_mod".

Extraction "checker.ml" judge read_problem read_certificate.
