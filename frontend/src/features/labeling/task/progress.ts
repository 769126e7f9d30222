import type { LabelProgress } from '@/api/contract/labeling';

/** Share of the images that have been accepted, 0 to 1. */
export const acceptedRatio = ({ accepted, total }: LabelProgress): number => (total === 0 ? 0 : accepted / total);

/** Images that have not been accepted yet. */
export const remaining = ({ accepted, total }: LabelProgress): number => total - accepted;

export const SEGMENTS = [
  { key: 'accepted', color: 'teal' },
  { key: 'audit', color: 'grape' },
  { key: 'rework', color: 'orange' },
  { key: 'labeling', color: 'atom' },
  { key: 'ready', color: 'gray' },
] as const;
