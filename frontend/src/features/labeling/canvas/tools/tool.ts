import type { ValueWindow } from '../deepTile';
import type { Action, Editor } from '../editor';
import type { Hit } from '../hit';
import type { DocumentV2, DrawnObject, Ontology, OntologyLabel, Point, Rect, Shape, ShapeKind } from '../model';
import type { ShownValues } from '../valueWindow';
import type { Size, View } from '../view';

/** A mouse, pen or finger, on the screen and in the picture. */
export interface Pointer {
  screen: Point;
  at: Point;
  kind: 'mouse' | 'pen' | 'touch';
  /** 0 the main button, 2 the other one. */
  button: number;
  shift: boolean;
  ctrl: boolean;
  alt: boolean;
  /** 2 for the second press of a double click. */
  presses: number;
}

export interface KeyPress {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

export type NoticeCode =
  | 'noLabel'
  | 'kindNotAllowed'
  | 'noSkeleton'
  | 'crossing'
  | 'holeOutside'
  | 'overlap'
  | 'tooFewPoints'
  | 'notDivided'
  | 'nothingToCut'
  | 'mergeTwo'
  | 'emptyMask'
  | 'locked'
  | 'noRelation'
  | 'relationNotAllowed'
  | 'readOnly';

/** Why something was not done, and where. */
export interface Notice {
  code: NoticeCode;
  at?: Point;
}

export interface Brush {
  /** In pixels of the picture. */
  radius: number;
  erases: boolean;
}

/** All that a tool knows of the rest. */
export interface ToolHost {
  readonly editor: Editor;
  readonly view: View;
  /** Size of the canvas in CSS pixels. */
  readonly size: Size;
  readonly ontology: Ontology;
  readonly activeLabel: number | null;
  readonly brush: Brush;
  readonly relation: number | null;
  /** Which values of a deep picture are black and white; null where a picture has no window. */
  readonly values: ShownValues | null;
  /** How far from a point something counts as hit, in pixels of the picture. */
  readonly reach: number;
  pick(at: Point): Hit | null;
  pickAll(at: Point): Hit[];
  objectsWithin(rect: Rect): DrawnObject[];
  dispatch(action: Action): void;
  newId(): string;
  /** Whether the active label may have this shape; says why not. */
  mayDraw(kind: ShapeKind): boolean;
  /** Draw an object of the active label on top. */
  create(shape: Shape): void;
  notify(notice: Notice): void;
  /** Show these values; null shows the whole range. */
  showValues(window: ValueWindow | null): void;
  /** The tool paints something else, or edits other objects. */
  changed(): void;
}

/** Paints on the active layer; places are those of the picture, sizes those of the screen. */
export interface ActivePaint {
  object(object: DrawnObject): void;
  line(
    points: readonly number[],
    options?: { closed?: boolean; dashed?: boolean; fill?: boolean; color?: string },
  ): void;
  handles(points: readonly Point[], color?: string): void;
  circle(centre: Point, radius: number): void;
  text(at: Point, text: string): void;
  mask(paint: MaskPaint): void;
}

export interface MaskPaint {
  width: number;
  height: number;
  get(x: number, y: number): boolean;
  color: string;
  /** The area that may hold ones. */
  bounds: Rect;
  /** The area that has changed since the last painting. */
  dirty: Rect;
  /** Counts up with every change of the mask. */
  version: number;
}

export type ToolName =
  | 'select'
  | 'box'
  | 'extreme-box'
  | 'rotated-box'
  | 'polygon'
  | 'hole'
  | 'split'
  | 'polyline'
  | 'point'
  | 'keypoints'
  | 'brush'
  | 'relation'
  | 'ruler'
  | 'window';

export interface Tool {
  readonly name: ToolName;
  pointerDown(pointer: Pointer): void;
  pointerMove(pointer: Pointer): void;
  pointerUp(pointer: Pointer): void;
  /** Whether the key meant something here. */
  key(press: KeyPress): boolean;
  /** Give up what is being drawn; whether there was anything. */
  cancel(): boolean;
  cursor(): string;
  paint(paint: ActivePaint): void;
  /** Objects that the tool paints itself while it changes them. */
  editing(): readonly string[];
}

/** Most tools do nothing on most events. */
export const IDLE = {
  pointerMove: () => {},
  pointerUp: () => {},
  key: () => false,
  cancel: () => false,
  cursor: () => 'crosshair',
  paint: () => {},
  editing: (): readonly string[] => [],
};

export const labelOf = (ontology: Ontology, id: number | null): OntologyLabel | undefined =>
  ontology.labels.find((label) => label.id === id);

export const mayHave = (label: OntologyLabel, kind: ShapeKind): boolean =>
  (label.tools ?? ['classification']).includes(kind);

export const insidePicture = ([x, y]: Point, { width, height }: DocumentV2): Point => [
  Math.min(width, Math.max(0, x)),
  Math.min(height, Math.max(0, y)),
];
