(** The readers of problem files and certificates, from bytes.

    The grammar is that of docs/certificate.md. Nothing is proven of these functions: what they
    return is what the theorem is about, so they are part of its statement. *)

Require Import ZArith List Bool String Ascii.
From Verified Require Import Statement Tree Polynomials Bricks Leaves Cores Check.
Import ListNotations.
Open Scope Z_scope.

Definition text := list Z.   (* bytes *)
Definition word := list Z.   (* bytes without white space *)

Fixpoint bytes (s : string) : word :=
  match s with EmptyString => [] | String c r => Z.of_N (N_of_ascii c) :: bytes r end.

Definition is_word (a b : word) : bool := match compare a b with Eq => true | _ => false end.

Notation "'let?' x := a 'in' b" := (match a with Some x => b | None => None end)
  (at level 200, x pattern, a at level 100, b at level 200).
Notation "'require' c 'in' b" := (if c then b else None) (at level 200, c at level 100, b at level 200).

Fixpoint traverse {A B} (f : A -> option B) (l : list A) (acc : list B) : option (list B) :=
  match l with
  | [] => Some (rev_append acc [])
  | x :: l' => let? y := f x in traverse f l' (y :: acc)
  end.

Definition each {A B} (f : A -> option B) (l : list A) : option (list B) := traverse f l [].

Definition count {A} (l : list A) : Z := total (fun _ => 1) l.

(** ** Lines and words *)

(** A tab, vertical tab, form feed, carriage return or space; lines end with a newline alone. *)
Definition is_space (c : Z) : bool := (c =? 32) || (c =? 9) || (c =? 13) || (c =? 11) || (c =? 12).

Definition with_word (w : word) (line : list word) : list word :=
  match w with [] => line | _ => rev_append w [] :: line end.

Definition split_byte (found : list (list word) * list word * word) (c : Z) :=
  let '(lines, line, w) := found in
  if c =? 10 then (rev_append (with_word w line) [] :: lines, [], [])
  else if is_space c then (lines, with_word w line, [])
  else (lines, line, c :: w).

(** The words of every line; [None] for binary data. *)
Definition split (t : text) : option (list (list word)) :=
  let '(lines, line, w) := fold_left split_byte t ([], [], []) in
  require negb (existsb (Z.eqb 0) t) in
  Some (rev_append (rev_append (with_word w line) [] :: lines) []).

Definition opens (mark : Z) (line : list word) : bool :=
  match line with (c :: _) :: _ => c =? mark | _ => false end.

(** All lines but empty ones and comments, which open with a mark. *)
Definition rows_of (mark : Z) (lines : list (list word)) : list (list word) :=
  rev_append (fold_left (fun rows line => match line with
                                          | [] => rows
                                          | _ => if opens mark line then rows else line :: rows
                                          end) lines []) [].

(** The words of all comments, without the mark. *)
Definition notes_of (mark : Z) (lines : list (list word)) : list (list word) :=
  fold_left (fun notes line => if opens mark line
                               then match line with
                                    | [_] :: rest => rest :: notes
                                    | (_ :: w) :: rest => (w :: rest) :: notes
                                    | _ => notes
                                    end
                               else notes) lines [].

(** What comments state for a key: a single word. [None] if two of them do. *)
Definition note (key : word) (notes : list (list word)) : option (option word) :=
  fold_some (fun found line => match line with
                               | [k; w] =>
                                   if is_word k key
                                   then match found with None => Some (Some w) | Some _ => None end
                                   else Some found
                               | _ => Some found
                               end) notes None.

(** ** Numbers *)

Definition is_digit (c : Z) : bool := (48 <=? c) && (c <=? 57).

Definition shorter {A} (n : Z) (l : list A) : bool := match taken n l [] with None => true | Some _ => false end.

Fixpoint without_zeros (w : word) : word :=
  match w with c :: rest => if c =? 48 then without_zeros rest else w | [] => [] end.

(** Digits, at most 4300 of them, zeros in front not counted. *)
Definition natural (w : word) : option Z :=
  require (match w with [] => false | _ => true end) && forallb is_digit w && shorter 4301 (without_zeros w) in
  Some (fold_left (fun n c => 10 * n + (c - 48)) w 0).

(** The same with or without a sign. *)
Definition integer (w : word) : option Z :=
  match w with
  | c :: rest =>
      if c =? 43 then natural rest
      else if c =? 45 then let? n := natural rest in Some (- n)
      else natural w
  | [] => None
  end.

(** A number of a vertex or of parts: fewer than 12 digits. *)
Definition small (w : word) : option Z := require shorter 12 w in natural w.

Definition stated_limit : Z := Eval compute in 2 ^ 70.

(** A number that is stated: below 2^70. *)
Definition moderate (w : word) : option Z :=
  require shorter 401 w in let? n := integer w in require Z.abs n <? stated_limit in Some n.

Definition weight (w : word) : option Z := let? n := integer w in require Z.abs n <? large in Some n.

(** ** Graphs (.mc, rudy) and QUBOs (.sparse) *)

(** a < b for edges of a graph; a <= b for entries of a matrix. *)
Definition read_edge (is_qubo : bool) (line : list word) : option (Z * Z * Z) :=
  match line with
  | [x; y; w] =>
      let? a := integer x in
      let? b := integer y in
      let? c := weight w in
      require (0 <? Z.min a b) && (is_qubo || negb (a =? b)) in Some (Z.min a b, Z.max a b, c)
  | _ => None
  end.

(** Sums of parallel edges fit 63 bits together. *)
Definition in_range (is_qubo : bool) (offset : Z) (edges : list (Z * Z * Z)) : bool :=
  let sums := fold_left (fun t e => let '(a, b, w) := e in
                                    add [a; b] (if is_qubo && negb (a =? b) then 2 * w else w) t) edges Empty in
  fold_tree (fun t _ w => t + Z.abs w) sums (Z.abs offset) <? large.

Definition key_offset := Eval compute in bytes "offset".
Definition key_ancilla := Eval compute in bytes "ancilla".
Definition key_numbers := Eval compute in bytes "numbers".

(** The first line is "VERTICES EDGES"; a graph may do without it. [# ancilla N] says that the last
    vertex N stands for the fields: it is the ghost, 0. *)
Definition read_graph (is_qubo : bool) (lines : list (list word)) : option (problem * Z * Z) :=
  let notes := notes_of 35 lines in
  let rows := rows_of 35 lines in
  let? numbers := note key_numbers notes in
  require (match numbers with None => true | Some _ => false end) in
  let? offset_note := if is_qubo then Some None else note key_offset notes in
  let? ancilla := if is_qubo then Some None else note key_ancilla notes in
  let? offset := match offset_note with None => Some 0 | Some w => moderate w end in
  let? (head, rest) := match rows with
                       | [] => None
                       | ([_; _; _] :: _) => if is_qubo then None else Some (None, rows)
                       | [n; m] :: rest => let? x := integer n in let? y := integer m in Some (Some (x, y), rest)
                       | _ => None
                       end in
  let? edges := each (read_edge is_qubo) rest in
  let highest := fold_left (fun n e => Z.max n (snd (fst e))) edges 0 in
  let (size, number) := match head with Some found => found | None => (highest, count edges) end in
  require (0 <=? size) && (highest <=? size) && (number =? count edges) && in_range is_qubo offset edges in
  match ancilla with
  | None => Some (if is_qubo then Qubo edges else Graph edges, size, offset)
  | Some w =>
      let? n := integer w in
      require negb (opens 45 [w]) && shorter 401 w && (n =? size) && (0 <? size) in
      let ghostly := mapped (fun e => let '(a, b, w) := e in if b =? size then (0, a, w) else e) edges in
      Some (Graph ghostly, size - 1, offset)
  end.

(** ** Weighted clauses (.wcnf, of both dialects) *)

Definition key_variables := Eval compute in bytes "num-variables".
Definition key_clauses := Eval compute in bytes "num-clauses".
Definition key_encoding := Eval compute in bytes "encoding".
Definition word_p := Eval compute in bytes "p".
Definition word_wcnf := Eval compute in bytes "wcnf".
Definition word_h := Eval compute in bytes "h".

(** The literals of a clause, which ends with 0. *)
Definition read_clause (words : list word) : option (list Z) :=
  let? numbers := each integer words in
  match rev_append numbers [] with
  | last :: literals => require (last =? 0) && forallb (fun l => negb (l =? 0)) literals in Some (rev_append literals [])
  | _ => None
  end.

(** Either a soft clause, or a hard one without a weight. *)
Definition read_line (has_head : bool) (top : option Z) (line : list word) : option (option Z * list Z) :=
  match line with
  | first :: words =>
      let? clause := read_clause words in
      if negb has_head && is_word first word_h then Some (None, clause)
      else
        let? w := integer first in
        let is_top := match top with Some t => w =? t | None => false end in
        require (0 <=? w) && (w <? large) || is_top in
        Some (match top with Some t => if t <=? w then None else Some w | None => Some w end, clause)
  | [] => None
  end.

Definition header (n : word) : option Z := require shorter 40 n in natural n.

Definition some {A} (o : option A) : option (option A) := let? x := o in Some (Some x).

(** Without a "p" line comments may state the sizes. *)
Definition headless (rows : list (list word)) (variables clauses : option word) :=
  let? size := match variables with None => Some None | Some w => some (moderate w) end in
  let? number := match clauses with None => Some None | Some w => some (moderate w) end in
  require (match rows with
           | [] => match clauses with None => false | Some _ => true end
           | line :: _ => negb (opens 112 line)
           end) in
  Some (false, size, number, @None Z, rows).

Definition read_wcnf (lines : list (list word)) : option (problem * Z * Z) :=
  let notes := notes_of 99 lines in
  let rows := rows_of 99 lines in
  let? variables := note key_variables notes in
  let? clauses := note key_clauses notes in
  let? encoding := note key_encoding notes in
  require (match encoding with None => true | Some _ => false end) in
  let? (has_head, size, number, top, rest) :=
    match rows with
    | (p :: wcnf :: n :: m :: more) :: rest =>
        if opens 112 [p] then
          require is_word p word_p && is_word wcnf word_wcnf in
          let? size := header n in
          let? number := header m in
          let? top := match more with [] => Some None | [t] => some (header t) | _ => None end in
          Some (true, Some size, Some number, top, rest)
        else headless rows variables clauses
    | _ => headless rows variables clauses
    end in
  let? read := each (read_line has_head top) rest in
  let soft := rev_append (fold_left (fun l c => match fst c with Some w => (w, snd c) :: l | None => l end) read []) [] in
  let hard := rev_append (fold_left (fun l (c : option Z * list Z) => match fst c with Some _ => l | None => snd c :: l end) read []) [] in
  let used := fold_left (fun n (c : option Z * list Z) => fold_left (fun n l => Z.max n (Z.abs l)) (snd c) n) read 0 in
  let n := match size with Some x => x | None => used end in
  require (match number with Some x => x =? count read | None => true end)
          && (match top with Some x => 0 <? x | None => true end)
          && (total fst soft <? large) && (used <=? n) in
  Some (Clauses soft hard, n, 0).

(** ** Polynomials (.hubo) *)

Definition key_vartype := Eval compute in bytes "vartype=SPIN".
Definition start_vartype := Eval compute in bytes "vartype".

Fixpoint starts (w v : word) : bool :=
  match w, v with
  | [], _ => true
  | a :: w', b :: v' => (a =? b) && starts w' v'
  | _, [] => false
  end.

Fixpoint contains (w v : word) : bool :=
  starts w v || match v with [] => false | _ :: v' => contains w v' end.

(** A term: variables from 0 on, and the weight last. *)
Definition read_term (line : list word) : option (monomial * Z) :=
  match rev_append line [] with
  | w :: variables =>
      let? c := weight w in
      let? m := each integer variables in
      require forallb (fun v => 0 <=? v) m in Some (mapped (fun v => v + 1) m, c)
  | [] => None
  end.

(** One comment, and no other, is "# vartype=SPIN". *)
Definition read_hubo (lines : list (list word)) : option (problem * Z * Z) :=
  let notes := notes_of 35 lines in
  let typed := List.filter (existsb (contains start_vartype)) notes in
  require (match typed with [[w]] => is_word w key_vartype | _ => false end) in
  let? numbers := note key_numbers notes in
  require (match numbers with None => true | Some _ => false end) in
  let? variables := note key_variables notes in
  let? stated_size := match variables with None => Some None | Some w => some (moderate w) end in
  let? terms := each read_term (rows_of 35 lines) in
  let used := fold_left (fun n (e : monomial * Z) => fold_left Z.max (fst e) n) terms 0 in
  let size := match stated_size with Some n => n | None => used end in
  let sums := gather Empty terms in
  require (used <=? size) && (size <? 2147483648)
          && (fold_tree (fun t _ w => t + Z.abs w) sums 0 <? large) in
  Some (Spins terms, size, 0).

Inductive kind := Wcnf | Maxcut | Sparse | Hubo.

(** The problem, the number of its variables, and its offset. *)
Definition read_problem (k : kind) (t : text) : option (problem * Z * Z) :=
  let? lines := split t in
  match k with
  | Wcnf => read_wcnf lines
  | Maxcut => read_graph false lines
  | Sparse => read_graph true lines
  | Hubo => read_hubo lines
  end.

(** ** Certificates *)

Definition head_first := Eval compute in bytes "glasshouse-certificate".
Definition head_denominator := Eval compute in bytes "denominator".
Definition head_cost := Eval compute in bytes "cost".
Definition head_state := Eval compute in bytes "state".
Definition head_names := Eval compute in bytes "names".
Definition head_loops := Eval compute in bytes "loops".
Definition head_squares := Eval compute in bytes "squares".
Definition head_tree := Eval compute in bytes "tree".
Definition head_common := Eval compute in bytes "common".
Definition head_monomials := Eval compute in bytes "monomials".
Definition head_cores := Eval compute in bytes "cores".
Definition heads :=
  [head_first; head_denominator; head_cost; head_state; head_names; head_loops; head_squares; head_tree;
   head_common; head_monomials; head_cores].
Definition row_branch := Eval compute in bytes "branch".
Definition row_leaf := Eval compute in bytes "leaf".
Definition row_cover := Eval compute in bytes "cover".
Definition row_order := Eval compute in bytes "order".

Definition is_letter (c : Z) : bool := (65 <=? c) && (c <=? 90) || (97 <=? c) && (c <=? 122).

Definition head (key : word) (found : list (word * list word)) : option (list word) :=
  match List.find (fun h => is_word key (fst h)) found with Some h => Some (snd h) | None => None end.

Definition has {A} (o : option A) : bool := match o with Some _ => true | None => false end.

Definition read_row (w : word) (values : list word) : option row :=
  let? numbers := each small values in
  if is_word w row_cover || is_word w row_order then Some (Exact (is_word w row_cover) numbers)
  else match numbers with
       | [x; y] => Some (if is_word w row_branch then Branch x y else Leaf x y)
       | _ => None
       end.

(** Lines that open with a letter: heads, and after the head "tree" rows of the tree. *)
Fixpoint read_heads (lines : list (list word)) (found : list (word * list word)) (rows : list row)
    : option (list (word * list word) * list row * list (list word)) :=
  match lines with
  | (((c :: _) as w) :: values) :: rest =>
      if negb (is_letter c) then Some (found, rev_append rows [], lines)
      else if has (head head_tree found) && existsb (is_word w) [row_branch; row_leaf; row_cover; row_order]
      then let? row := read_row w values in read_heads rest found (row :: rows)
      else
        require existsb (is_word w) heads && negb (has (head w found))
                && (match found with [] => is_word w head_first | _ => true end) in
        read_heads rest ((w, values) :: found) rows
  | _ => Some (found, rev_append rows [], lines)
  end.

Definition one {A} (f : word -> option A) (values : option (list word)) : option A :=
  match values with Some [w] => f w | _ => None end.

(** The value of a head that may be missing. *)
Definition maybe {A} (f : list word -> option A) (values : option (list word)) : option (option A) :=
  match values with None => Some None | Some v => let? x := f v in Some (Some x) end.

Definition read_digit (c : Z) : option bool :=
  if c =? 49 then Some true else if c =? 48 then Some false else None.

Definition read_digits (values : option (list word)) : option (list bool) :=
  match values with Some [] => Some [] | Some [w] => each read_digit w | _ => None end.

Definition are_names (n : Z) (numbers : list Z) : bool :=
  (count numbers =? n) && forallb (fun k => (1 <=? k) && (k <=? n)) numbers && all_fresh numbers.

(** The nodes of a core's tree. Of a leaf with amounts, so many pairs are missing still. *)
Fixpoint read_nodes (tokens : list Z) (missing : Z) (amounts : list (Z * Z)) (found : list node)
    : option (list node) :=
  match tokens with
  | [] => require missing =? 0 in Some (rev_append found [])
  | x :: rest =>
      if 0 <? missing
      then match rest with
           | a :: rest' =>
               if missing =? 1
               then read_nodes rest' 0 [] (Shared (rev_append ((x, a) :: amounts) []) :: found)
               else read_nodes rest' (missing - 1) ((x, a) :: amounts) found
           | [] => None
           end
      else if 0 <? x then read_nodes rest 0 [] (Fork x :: found)
      else if x <? 0 then read_nodes rest 0 [] (Whole (- x) :: found)
      else match rest with
           | n :: rest' => require 0 <? n in read_nodes rest' n [] found
           | [] => None
           end
  end.

Definition read_core (line : list Z) : option core :=
  match line with
  | cost :: tokens =>
      require forallb (fun x => Z.abs x <? large) line in
      let? nodes := read_nodes tokens 0 [] [] in Some (cost, nodes)
  | [] => None
  end.

Definition read_certificate (t : text) : option certificate :=
  let? lines := split t in
  let? (found, tree_rows, part_lines) := read_heads (rows_of 35 lines) [] [] in
  let? version := one small (head head_first found) in
  require existsb (fun k => match head head_first found with Some [w] => is_word w k | _ => false end)
            [[49]; [50]; [51]; [52]; [53]; [54]] in
  let is_five := version =? 5 in
  let? over := one integer (head head_denominator found) in
  let? bits := read_digits (head head_state found) in
  let? cost := maybe (fun v => one moderate (Some v)) (head head_cost found) in
  let? names := maybe (each small) (head head_names found) in
  let? loops := if is_five then Some 0 else one integer (head head_loops found) in
  let? squares := maybe (fun v => one integer (Some v)) (head head_squares found) in
  let? tree := maybe (fun v => one integer (Some v)) (head head_tree found) in
  let? common := maybe (each small) (head head_common found) in
  let? products := maybe (fun v => one integer (Some v)) (head head_monomials found) in
  let? number_of_cores := if is_five then one integer (head head_cores found) else Some 0 in
  let? lines_of_parts := each (each integer) part_lines in
  let number := match squares with Some m => m | None => 0 end in
  let vertices := match products with Some m => m | None => 0 end in
  require (0 <=? vertices) && Bool.eqb (has products) (version =? 4) in
  let? (monomials, others) := taken vertices lines_of_parts [] in
  let (core_lines, parts) := if is_five then (others, []) else ([], others) in
  let? trees := each read_core core_lines in
  require negb (has (head (if is_five then head_loops else head_cores) found))
          && Bool.eqb (0 <? number_of_cores) is_five && (number_of_cores =? count trees) in
  require (0 <? over) && (0 <=? loops) && (0 <=? number) && (loops + number =? count parts)
          && ((version =? 4) || Bool.eqb (has tree) ((version =? 3) || (version =? 6)))
          && (has tree || negb (has common)) && (existsb (Z.eqb version) [2; 3; 4; 6] || negb (has squares))
          && ((version =? 6) || forallb (fun r => match r with Exact false _ => false | _ => true end) tree_rows)
          && (match tree with Some n => n =? count tree_rows | None => true end)
          && (match names with Some numbers => are_names (count bits) numbers | None => true end) in
  let? (loop_parts, square_parts) := taken loops parts [] in
  let? first := match common with
                | None => Some (if has tree then (0, 0) else (loops, number))
                | Some [x; y] => Some (x, y)
                | _ => None
                end in
  Some {| denominator := over; digits := bits; stated := cost;
          rows := if has tree then tree_rows else [Leaf 0 0];
          loops := loop_parts; squares := square_parts; common := first; table := monomials;
          cores := if has tree || (0 <? vertices + count parts) then None else Some trees |}.
