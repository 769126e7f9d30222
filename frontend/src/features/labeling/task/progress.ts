import type { LabelProgress } from '@/api/contract/labeling';

/** Share of the images that have been accepted, 0 to 1. */
export const acceptedRatio = ({ accepted, total }: LabelProgress): number => (total === 0 ? 0 : accepted / total);

/** Images that are neither accepted nor left out. */
export const remaining = ({ accepted, left_out, total }: LabelProgress): number => total - accepted - left_out;

export const SEGMENTS = [
  { key: 'accepted', color: 'teal' },
  { key: 'audit', color: 'grape' },
  { key: 'rework', color: 'orange' },
  { key: 'labeling', color: 'atom' },
  { key: 'left_out', color: 'dark' },
  { key: 'ready', color: 'gray' },
] as const;

const OVER = ['completed', 'publishing', 'published'] as const;
type Idle = 'draft' | 'paused' | (typeof OVER)[number];

export const isOver = (state: string): boolean => OVER.some((one) => one === state);

/** The reason why a task hands out nothing, by its state. */
export const wordsOfState = (state: string): 'active' | Idle =>
  state === 'draft' || state === 'paused' || isOver(state) ? (state as Idle) : 'active';
