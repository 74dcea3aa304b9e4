(* The program around the extracted checker: files in, one line for each pair of them out. *)

let usage = "usage: glasshouse-verified FILE FILE.cert [FILE FILE.cert ...]"

(* All bytes of a file, as the list of numbers that the checker reads. Refuses what has no size,
   such as a folder, a pipe or a device, and what changes its size meanwhile. *)
let bytes path =
  let channel = open_in_bin path in
  let read () =
    let text = really_input_string channel (in_channel_length channel) in
    match input_char channel with
    | exception End_of_file -> text
    | _ -> raise End_of_file in
  let text = try Fun.protect ~finally:(fun () -> close_in_noerr channel) read with
    | Sys_error _ | End_of_file | Invalid_argument _ ->
        raise (Sys_error (path ^ ": it is not a regular file, or it changes")) in
  let rec from k rest =
    if k < 0 then rest else from (k - 1) (Z.of_int (Char.code text.[k]) :: rest) in
  from (String.length text - 1) []

let kind_of path =
  if Filename.check_suffix path ".wcnf" then Checker.Wcnf
  else if Filename.check_suffix path ".sparse" then Checker.Sparse
  else if Filename.check_suffix path ".hubo" then Checker.Hubo
  else Checker.Maxcut

(* What to print of a problem and its certificate, and the exit code. *)
let judged path certificate_path =
  let kind = kind_of path and text = bytes path and certificate = bytes certificate_path in
  match Checker.judge kind text certificate with
  | Some (Checker.Optimum v) -> ("VERIFIED optimum " ^ Z.to_string v, 0)
  | Some (Checker.Bound (b, v)) ->
      let side, verb = if kind = Checker.Maxcut then ("an upper", "cuts") else ("a lower", "costs") in
      (Printf.sprintf "VERIFIED only %s bound: %s; the assignment %s %s" side (Z.to_string b) verb
         (Z.to_string v), 2)
  | None when Checker.read_problem kind text = None ->
      ("REFUSED the problem is not an integer problem in a format that this checker reads"
       ^ (if Filename.check_suffix path ".cert" then "; name the certificate after it" else ""), 1)
  | None when Checker.read_certificate certificate = None ->
      ("REFUSED the certificate does not follow the format", 1)
  | None -> ("REFUSED the certificate does not prove anything of this problem", 1)

(* The same, whatever happens, on one line, whatever the names of the files hold. *)
let answer path certificate_path =
  let refused reason = ("REFUSED " ^ String.escaped reason, 1) in
  try judged path certificate_path with
  | Out_of_memory | Stack_overflow -> refused (path ^ ": not enough memory")
  | Sys_error reason -> refused reason
  | error -> refused (path ^ ": " ^ Printexc.to_string error)

(* OCaml ends with the code 2 when an exception escapes, so none may: 2 says that a bound is proven. *)
let () =
  let rec run code = function
    | path :: certificate_path :: rest ->
        let line, found = answer path certificate_path in
        print_endline line;
        run (if code = 1 || found = 1 then 1 else max code found) rest
    | _ -> code in
  let paths = List.tl (Array.to_list Sys.argv) in
  if paths = [] || List.length paths mod 2 = 1 then (prerr_endline usage; exit 1);
  match run 0 paths with
  | code -> exit code
  | exception _ -> close_out_noerr stdout; exit 1 (* the answer could not be printed *)
