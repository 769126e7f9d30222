import type { PlacementCandidate } from '@/api/contract/jobs';
import { AUTO, OWN } from '../places/placeWords';
import type { Draft } from './draft';

/** Whether the run may go elsewhere than to Atom's own machines. */
export const mayLeave = ({ cluster }: Draft): boolean => Boolean(cluster) && cluster !== OWN;

/** The draft with its place: until a person chooses one, Atom does as soon as a cluster could take the run. */
export function withPlace(draft: Draft, candidates: readonly PlacementCandidate[] | undefined): Draft {
  // Data that is mounted is on Atom's own machines.
  if (draft.cluster || Object.values(draft.deliveries ?? {}).includes('mount')) return draft;
  const isPossible = candidates?.some(({ name, fits }) => name !== OWN && fits !== 'never');
  return isPossible ? { ...draft, cluster: AUTO } : draft;
}
