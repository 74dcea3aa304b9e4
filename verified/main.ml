(* The program around the extracted checker: files in, one line for each pair of them out. *)

let usage = "usage: glasshouse-verified FILE FILE.cert [FILE FILE.cert ...]"

(* All bytes of a file, as the list of numbers that the checker reads. *)
let bytes path =
  let channel = open_in_bin path in
  let text = Fun.protect ~finally:(fun () -> close_in channel) (fun () ->
    really_input_string channel (in_channel_length channel)) in
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
      ("REFUSED the problem is not an integer problem in a format that this checker reads", 1)
  | None when Checker.read_certificate certificate = None ->
      ("REFUSED the certificate does not follow the format", 1)
  | None -> ("REFUSED the certificate does not prove anything of this problem", 1)

let () =
  let rec run code = function
    | path :: certificate :: rest ->
        let line, found =
          try judged path certificate with
          | Sys_error reason -> ("REFUSED " ^ reason, 1)
          | Out_of_memory | Stack_overflow -> ("REFUSED not enough memory", 1) in
        print_endline line;
        run (if code = 1 || found = 1 then 1 else max code found) rest
    | [] -> code
    | _ -> prerr_endline usage; 1 in
  match List.tl (Array.to_list Sys.argv) with
  | [] -> prerr_endline usage; exit 1
  | paths -> exit (run 0 paths)
