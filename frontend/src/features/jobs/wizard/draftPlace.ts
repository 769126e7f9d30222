import type { PlacementCandidate } from '@/api/contract/jobs';
import { AUTO, OWN } from '../places/placeWords';

/** The part of a draft that its place depends on. */
interface Placed {
  cluster: string;
  deliveries?: Record<string, string>;
}

/** Whether the run may go elsewhere than to Atom's own machines. */
export const mayLeave = ({ cluster }: Pick<Placed, 'cluster'>): boolean => Boolean(cluster) && cluster !== OWN;

/** The draft with its place: until a person chooses one, Atom does as soon as a cluster could take the run. */
export function withPlace<D extends Placed>(draft: D, candidates: readonly PlacementCandidate[] | undefined): D {
  // Data that is mounted is on Atom's own machines.
  if (draft.cluster || Object.values(draft.deliveries ?? {}).includes('mount')) return draft;
  const isPossible = candidates?.some(({ name, fits }) => name !== OWN && fits !== 'never');
  return isPossible ? { ...draft, cluster: AUTO } : draft;
}
