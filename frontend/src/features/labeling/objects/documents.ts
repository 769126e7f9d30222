import type { LeasedSlot } from '@/api/contract/labeling';
import type { DocumentV2 } from './types';

/** A slot of a picture with objects. */
export type ObjectSlot = LeasedSlot & { document?: unknown; width?: number | null; height?: number | null };

export const blankDocument = (width: number, height: number): DocumentV2 => ({
  version: 2,
  width,
  height,
  objects: [],
});

function asDocument(value: unknown): DocumentV2 | null {
  const document = value as Partial<DocumentV2> | null | undefined;
  if (document?.version !== 2 || !Array.isArray(document.objects)) return null;
  return document as DocumentV2;
}

/** The document that a slot starts with: its draft, the work before it, or an empty one. */
export function documentOfSlot(slot: ObjectSlot): DocumentV2 {
  return asDocument(slot.draft) ?? asDocument(slot.document) ?? blankDocument(slot.width ?? 0, slot.height ?? 0);
}

/** A key whose value says nothing is left out. */
function isDefault(key: string, value: unknown): boolean {
  if (value === undefined) return true;
  if (key === 'ignore') return value === false;
  if (key === 'text') return value === '' || value === null;
  if (key === 'attributes') return Object.keys(value as object).length === 0;
  return (key === 'labels' || key === 'relations') && (value as unknown[]).length === 0;
}

const withoutDefaults = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([key, one]) => !isDefault(key, one))) as T;

/** The document as it is stored: fields with their default are left out. */
export function canonical(document: DocumentV2): DocumentV2 {
  return withoutDefaults({ ...document, objects: document.objects.map(withoutDefaults) });
}
