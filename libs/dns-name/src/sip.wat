;; SipHash-2-4 over the labels of a name, from the last label to the first one: the hash up to the end of each label.
;;
;; JavaScript has no fast 64-bit integers: the same hash in pairs of 32-bit words takes four times as long for a name,
;; and a cached answer of the resolver 1.4 times the processor time (README). sip-instance.ts says what is where in the
;; memory; sip-wasm.ts has these instructions as bytes. sip-wasm.spec.ts fails when the two differ, and -u writes them.
;;
;; Source of the hash: Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012), §2.
(module
  (memory (export "memory") 1 1)

  (func (export "hashLabels") (param $count i32) (param $foldedLetters i32)
    (local $suffix i32) (local $at i32) (local $end i32) (local $taken i32) (local $total i32) (local $rounds i32)
    (local $v0 i64) (local $v1 i64) (local $v2 i64) (local $v3 i64)
    (local $f0 i64) (local $f1 i64) (local $f2 i64) (local $f3 i64)
    (local $word i64) (local $piece i64) (local $sevenBits i64) (local $shift i64) (local $folded i64)
    (local $last i64) (local $hash i64)
    (local.set $v0 (i64.load offset=0 (i32.const 0)))
    (local.set $v1 (i64.load offset=8 (i32.const 0)))
    (local.set $v2 (i64.load offset=16 (i32.const 0)))
    (local.set $v3 (i64.load offset=24 (i32.const 0)))
    (local.set $folded (select (i64.const 0x8080808080808080) (i64.const 0) (local.get $foldedLetters)))
    (loop $label
      (local.set $at (i32.sub (i32.sub (local.get $count) (i32.const 1)) (local.get $suffix)))
      (local.set $end (i32.load8_u offset=640 (local.get $at)))
      (local.set $at (i32.load8_u offset=512 (local.get $at)))
      (loop $pieces
        (local.set $taken (i32.sub (i32.add (local.get $end) (i32.const 1)) (local.get $at)))
        (local.set $taken
          (select (i32.const 8) (local.get $taken) (i32.lt_u (i32.const 8) (local.get $taken))))
        ;; The next bytes of the label, at most 8, and 0 behind them. Up to 7 bytes behind the label are read.
        (local.set $shift
          (i64.extend_i32_u (i32.sub (i32.const 64) (i32.shl (local.get $taken) (i32.const 3)))))
        (local.set $piece
          (i64.shr_u (i64.shl (i64.load offset=256 (local.get $at)) (local.get $shift)) (local.get $shift)))
        ;; Letters in lower case. The sums have the highest bit of a byte from 'A' and from '[' on. A length byte is
        ;; below 'A', so it does not change.
        (local.set $sevenBits (i64.and (local.get $piece) (i64.const 0x7f7f7f7f7f7f7f7f)))
        (local.set $piece (i64.or (local.get $piece) (i64.shr_u
          (i64.and
            (i64.and (local.get $folded) (i64.xor
              (i64.add (local.get $sevenBits) (i64.const 0x3f3f3f3f3f3f3f3f))
              (i64.add (local.get $sevenBits) (i64.const 0x2525252525252525))))
            (i64.xor (local.get $piece) (local.get $folded)))
          (i64.const 2))))
        ;; $word collects eight bytes. Shifts count modulo 64.
        (local.set $shift (i64.shl (i64.extend_i32_u (local.get $total)) (i64.const 3)))
        (local.set $word (i64.or (local.get $word) (i64.shl (local.get $piece) (local.get $shift))))
        (if (i32.ge_u
              (i32.add (i32.and (local.get $total) (i32.const 7)) (local.get $taken))
              (i32.const 8))
          (then
            (local.set $v3 (i64.xor (local.get $v3) (local.get $word)))
            (local.set $rounds (i32.const 2))
            (loop $absorb
              (local.set $v0 (i64.add (local.get $v0) (local.get $v1)))
              (local.set $v1 (i64.xor (i64.rotl (local.get $v1) (i64.const 13)) (local.get $v0)))
              (local.set $v0 (i64.rotl (local.get $v0) (i64.const 32)))
              (local.set $v2 (i64.add (local.get $v2) (local.get $v3)))
              (local.set $v3 (i64.xor (i64.rotl (local.get $v3) (i64.const 16)) (local.get $v2)))
              (local.set $v0 (i64.add (local.get $v0) (local.get $v3)))
              (local.set $v3 (i64.xor (i64.rotl (local.get $v3) (i64.const 21)) (local.get $v0)))
              (local.set $v2 (i64.add (local.get $v2) (local.get $v1)))
              (local.set $v1 (i64.xor (i64.rotl (local.get $v1) (i64.const 17)) (local.get $v2)))
              (local.set $v2 (i64.rotl (local.get $v2) (i64.const 32)))
              (br_if $absorb (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
            (local.set $v0 (i64.xor (local.get $v0) (local.get $word)))
            ;; The rest of the piece. Two shifts, as it is nothing when $shift is 0.
            (local.set $word (i64.shr_u
              (i64.shr_u (local.get $piece) (i64.const 1))
              (i64.sub (i64.const 63) (local.get $shift))))))
        (local.set $total (i32.add (local.get $total) (local.get $taken)))
        (local.set $at (i32.add (local.get $at) (local.get $taken)))
        (br_if $pieces (i32.le_u (local.get $at) (local.get $end))))
      ;; The state goes on with the next label: only a copy of it is finalised.
      (local.set $last
        (i64.or (local.get $word) (i64.shl (i64.extend_i32_u (local.get $total)) (i64.const 56))))
      (local.set $f0 (local.get $v0))
      (local.set $f1 (local.get $v1))
      (local.set $f2 (local.get $v2))
      (local.set $f3 (i64.xor (local.get $v3) (local.get $last)))
      (local.set $rounds (i32.const 6))
      (loop $finalise
        (local.set $f0 (i64.add (local.get $f0) (local.get $f1)))
        (local.set $f1 (i64.xor (i64.rotl (local.get $f1) (i64.const 13)) (local.get $f0)))
        (local.set $f0 (i64.rotl (local.get $f0) (i64.const 32)))
        (local.set $f2 (i64.add (local.get $f2) (local.get $f3)))
        (local.set $f3 (i64.xor (i64.rotl (local.get $f3) (i64.const 16)) (local.get $f2)))
        (local.set $f0 (i64.add (local.get $f0) (local.get $f3)))
        (local.set $f3 (i64.xor (i64.rotl (local.get $f3) (i64.const 21)) (local.get $f0)))
        (local.set $f2 (i64.add (local.get $f2) (local.get $f1)))
        (local.set $f1 (i64.xor (i64.rotl (local.get $f1) (i64.const 17)) (local.get $f2)))
        (local.set $f2 (i64.rotl (local.get $f2) (i64.const 32)))
        (local.set $rounds (i32.sub (local.get $rounds) (i32.const 1)))
        (if (i32.eq (local.get $rounds) (i32.const 4))
          (then
            (local.set $f0 (i64.xor (local.get $f0) (local.get $last)))
            (local.set $f2 (i64.xor (local.get $f2) (i64.const 0xff)))))
        (br_if $finalise (local.get $rounds)))
      (local.set $hash
        (i64.xor (i64.xor (local.get $f0) (local.get $f1)) (i64.xor (local.get $f2) (local.get $f3))))
      (i32.store offset=1024
        (i32.shl (local.get $suffix) (i32.const 2))
        (i32.wrap_i64 (local.get $hash)))
      (i32.store offset=1536
        (i32.shl (local.get $suffix) (i32.const 2))
        (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 32))))
      (local.set $suffix (i32.add (local.get $suffix) (i32.const 1)))
      (br_if $label (i32.lt_u (local.get $suffix) (local.get $count))))))
