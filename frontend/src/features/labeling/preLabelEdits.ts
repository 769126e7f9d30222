import type { PreLabelEdits } from '@/api/contract/labeling';

/** The labels of the pre-label: objects, and classes of the picture. */
export const preLabelledOf = ({ kept, reshaped, relabelled, removed }: PreLabelEdits): number =>
  kept + reshaped + relabelled + removed;

/** Those of them that a person changed in any way. */
export const changedOf = ({ reshaped, relabelled, removed }: PreLabelEdits): number => reshaped + relabelled + removed;
