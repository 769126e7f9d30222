import type { ToolName } from '../canvas/tools/tool';
import { kindsOf } from './ontology';
import type { Ontology, ShapeKind } from './types';

/** The tools that draw a kind of shape, or change it. */
const TOOLS_OF: Record<ShapeKind, readonly ToolName[]> = {
  box: ['box', 'extreme-box'],
  rotated_box: ['rotated-box'],
  polygon: ['polygon', 'hole', 'split'],
  polyline: ['polyline'],
  point: ['point'],
  keypoints: ['keypoints'],
  mask: ['brush'],
};

/** Tools that change no object. */
export const WITHOUT_DRAWING: ReadonlySet<ToolName> = new Set(['select', 'ruler', 'window']);

/** The tools of a task, by the shapes of its labels. */
export function toolsOfTask(ontology: Ontology): ToolName[] {
  const relations = ontology.schema?.relations ?? [];
  return [
    'select',
    ...kindsOf(ontology).flatMap((kind) => TOOLS_OF[kind]),
    ...(relations.length > 0 ? ['relation' as const] : []),
    'ruler',
  ];
}

/** The tool that a label is drawn with: the present one where it can, else the first that can. */
export function toolForKinds(kinds: readonly ShapeKind[], active: ToolName): ToolName {
  const possible = kinds.flatMap((kind) => TOOLS_OF[kind]);
  return possible.includes(active) ? active : (possible[0] ?? active);
}
