// CPU-bound scripts, the same text for the guest and for a plain process. Each sets `check`; the time is taken inside.
export const scripts = {
  node: {
    fib: 'const f = n => n < 2 ? n : f(n - 1) + f(n - 2); check = f(32)',
    sieve: 'const n = 3e6, s = new Uint8Array(n); let c = 0; for (let i = 2; i < n; i++) { if (s[i]) continue; c++; for (let j = i * 2; j < n; j += i) s[j] = 1 } check = c',
    objects: 'const m = new Map(); for (let i = 0; i < 3e5; i++) m.set("k" + i % 5000, { i, s: [i, i + 1] }); check = [...m.values()].reduce((a, o) => a + o.s[1], 0)',
    json: 'const o = Array.from({ length: 3000 }, (_, i) => ({ id: i, name: "n" + i, tags: ["a", "b"] })); let l = 0; for (let i = 0; i < 40; i++) l += JSON.stringify(JSON.parse(JSON.stringify(o))).length; check = l',
    text: 'let t = ""; for (let i = 0; i < 2e5; i++) t += "word" + i % 97 + " "; check = t.split(" ").filter(w => /7$/.test(w)).map(w => w.toUpperCase()).sort().length',
  },
  python: {
    fib: 'def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\ncheck = f(26)',
    sieve: 'n = 400000\ns = bytearray([1]) * n\nfor i in range(2, 633):\n  if s[i]: s[i*i::i] = bytes(len(range(i*i, n, i)))\ncheck = sum(s) - 2',
    loops: 't = 0\nfor i in range(1500000): t += i * i % 7\ncheck = t',
    objects: 'class P:\n  def __init__(self, x): self.x = x\n  def get(self): return self.x\nd = {}\nfor i in range(150000): d["k%d" % (i % 5000)] = P(i)\ncheck = sum(p.get() for p in d.values())',
    json: 'import json\no = [{"id": i, "name": "n%d" % i, "tags": ["a", "b"]} for i in range(2000)]\nl = 0\nfor i in range(15): l += len(json.dumps(json.loads(json.dumps(o))))\ncheck = l',
    text: 'import re\nt = " ".join("word%d" % (i % 97) for i in range(100000))\ncheck = len(sorted(w.upper() for w in t.split() if re.search("7$", w)))',
  },
}

export const timed = {
  node: (code) => `let check; const t0 = process.hrtime.bigint(); ${code}; const ns = Number(process.hrtime.bigint() - t0);`,
  python: (code) => `import time\nt0 = time.perf_counter_ns()\n${code}\nns = time.perf_counter_ns() - t0\n`,
}
