import type { agents } from '../../words/agents.en';

export interface XidMeaning {
  meaning: keyof typeof agents.meaning;
  /** Undefined where nothing can be said. */
  todo?: keyof typeof agents.todo;
}

const of = (meaning: XidMeaning['meaning'], todo?: XidMeaning['todo']): XidMeaning => ({ meaning, todo });

/** The XID errors that NVIDIA's documents explain and that nodes of training meet. */
const KNOWN: Readonly<Record<number, XidMeaning>> = {
  8: of('stopped', 'program'),
  13: of('engine', 'program'),
  31: of('page_fault', 'program'),
  32: of('driver', 'reset'),
  38: of('driver', 'reset'),
  43: of('stopped', 'program'),
  45: of('cleanup', 'earlier'),
  48: of('double_bit', 'reset'),
  61: of('controller', 'reset'),
  62: of('controller', 'reset'),
  63: of('remapped', 'watch'),
  64: of('remap_failed', 'replace'),
  69: of('engine', 'program'),
  74: of('nvlink', 'reset'),
  79: of('off_bus', 'restart'),
  92: of('single_bits', 'watch'),
  94: of('contained', 'reset'),
  95: of('uncontained', 'reset'),
  109: of('timeout', 'reset'),
  110: of('security', 'program'),
  119: of('gsp', 'reset'),
  120: of('gsp', 'reset'),
  140: of('double_bit', 'reset'),
};

/** The meaning of an XID error and what to do; `unknown` for a number that is not in the table. */
export const xidMeaning = (code: number): XidMeaning => KNOWN[code] ?? of('unknown');
