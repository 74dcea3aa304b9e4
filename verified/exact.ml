(* The integers of zarith, with division as Coq defines it: rounded down; by 0 it yields 0. *)
include Z

let floor_div a b = if equal b zero then zero else fdiv a b
let floor_mod a b = if equal b zero then a else sub a (mul b (fdiv a b))
