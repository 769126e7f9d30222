import type { LeasedSlot } from '@/api/contract/labeling';
import { canonicalDocument, canonicalObject, type DocumentV2, emptyDocument, objectsOf } from '../canvas/model';

export function asDocument(value: unknown): DocumentV2 | null {
  const document = value as Partial<DocumentV2> | null | undefined;
  return document?.version === 2 ? (document as DocumentV2) : null;
}

/** The document that a slot starts with: its draft, the work before it, or an empty one. */
export function documentOfSlot(slot: LeasedSlot): DocumentV2 {
  return asDocument(slot.draft) ?? asDocument(slot.document) ?? emptyDocument(slot.width ?? 0, slot.height ?? 0);
}

/** The document as it is stored: fields with their default are left out. */
export const canonical = (document: DocumentV2): DocumentV2 =>
  canonicalDocument({ ...document, objects: objectsOf(document).map(canonicalObject) });
