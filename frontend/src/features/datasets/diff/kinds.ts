import type { DiffKind } from '@/api/contract/datasets';

export interface KindLook {
  kind: DiffKind;
  color: string;
  sign: string;
}

/** In the order of the filter; each kind has a sign beside its colour. */
export const KINDS: readonly KindLook[] = [
  { kind: 'added', color: 'teal', sign: '+' },
  { kind: 'removed', color: 'red', sign: '−' },
  { kind: 'changed', color: 'orange', sign: '~' },
  { kind: 'renamed', color: 'cyan', sign: '→' },
  { kind: 'labels_changed', color: 'grape', sign: '#' },
];

export const lookOf = (kind: string): KindLook | undefined => KINDS.find((look) => look.kind === kind);
