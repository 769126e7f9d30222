import type { WarmPlan } from '@/api/contract/datasets';

type Part = WarmPlan['nodes'][number];

/** How far a plan is: sums over its nodes, without those that were replaced. */
export interface PlanProgress {
  bytesTotal: number;
  bytesPresent: number;
  /** Bytes a second of the nodes that fetch now. */
  rate: number;
  /** The slowest node ends the plan; null while no rate is known. */
  etaS: number | null;
  nodes: number;
  nodesDone: number;
  failures: number;
  fromOrigin: number;
  fromPeers: number;
}

const sum = (parts: Part[], value: (part: Part) => number) => parts.reduce((total, part) => total + value(part), 0);

export function progressOf({ nodes }: Pick<WarmPlan, 'nodes'>): PlanProgress {
  const parts = nodes.filter(({ state }) => state !== 'replaced');
  const fetching = parts.filter(({ state }) => state === 'warming');
  const times = fetching.map(({ eta_s }) => eta_s).filter((eta) => eta !== null);
  return {
    bytesTotal: sum(parts, ({ bytes_total }) => bytes_total),
    bytesPresent: sum(parts, ({ bytes_present }) => bytes_present),
    rate: sum(fetching, ({ rate_bytes_s }) => rate_bytes_s),
    etaS: times.length > 0 ? Math.max(...times) : null,
    nodes: parts.length,
    nodesDone: parts.filter(({ state }) => state === 'warm').length,
    failures: sum(nodes, ({ failures }) => failures),
    fromOrigin: sum(nodes, ({ packs_from_origin }) => packs_from_origin),
    fromPeers: sum(nodes, ({ packs_from_peers }) => packs_from_peers),
  };
}

/** The share of the bytes that is there, 0 to 1; an empty version is complete. */
export const shareOf = (present: number, total: number) => (total > 0 ? present / total : 1);
