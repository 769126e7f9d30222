import type { AnnotationObject, DocumentV2, DrawnObject, Ontology, Point, Shape } from './model';
import { objectsOf } from './model';
import { Session, type SessionEvents } from './session';
import type { KeyPress, Notice, Pointer, ToolName } from './tools/tool';

/** Numbers in [0, 1) that are the same in every run. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

export const ONTOLOGY: Ontology = {
  labels: [
    {
      id: 1,
      name: 'car',
      color: '#ff8800',
      tools: ['box', 'rotated_box', 'polygon', 'polyline', 'point', 'keypoints', 'mask'],
      attributes: [{ id: 4, name: 'colour', kind: 'choice', choices: [{ id: 1, name: 'red' }], default: 1 }],
      skeleton: { points: [{ name: 'nose' }, { name: 'eye' }, { name: 'ear' }], edges: [[0, 1]] },
    },
    { id: 2, name: 'plate', color: '#0088ff', tools: ['box'] },
    { id: 3, name: 'scene', color: '#00ff88' },
  ],
  schema: { relations: [{ id: 1, name: 'belongs to', from: [2], to: [1] }] },
};

export const object = (id: string, shape: Shape, label = 1): DrawnObject => ({ id, label, ...shape }) as DrawnObject;

export interface Bench {
  session: Session;
  notices: Notice[];
  documents: DocumentV2[];
  down(at: Point, more?: Partial<Pointer>): void;
  move(at: Point, more?: Partial<Pointer>): void;
  up(at: Point, more?: Partial<Pointer>): void;
  click(at: Point, more?: Partial<Pointer>): void;
  drag(...points: Point[]): void;
  key(key: string, more?: Partial<KeyPress>): boolean;
  objects(): readonly AnnotationObject[];
  last(): AnnotationObject;
}

/** A session with a picture of 1000 × 800 pixels at a scale of 1, and a hand that points at places of the picture. */
export function bench(tool: ToolName, objects: readonly AnnotationObject[] = [], events: SessionEvents = {}): Bench {
  const notices: Notice[] = [];
  const documents: DocumentV2[] = [];
  const session = new Session({
    ...events,
    notice: (notice) => notices.push(notice),
    change: (document) => documents.push(document),
  });
  session.ontology = ONTOLOGY;
  session.activeLabel = 1;
  session.size = { width: 1000, height: 800 };
  session.open({ version: 2, width: 1000, height: 800, objects });
  session.setView({ scale: 1, x: 0, y: 0 });
  session.chooseTool(tool);
  const pointer = (screen: Point, more: Partial<Pointer> = {}): Pointer => ({
    ...session.pointerAt(screen, { kind: 'mouse', button: 0, shift: false, ctrl: false, alt: false, presses: 1 }),
    ...more,
  });
  const hand: Bench = {
    session,
    notices,
    documents,
    down: (at, more) => session.pointerDown(pointer(at, more)),
    move: (at, more) => session.pointerMove(pointer(at, more)),
    up: (at, more) => session.pointerUp(pointer(at, more)),
    click(at, more) {
      hand.move(at, more);
      hand.down(at, more);
      hand.up(at, more);
    },
    drag(...points) {
      hand.down(points[0] as Point);
      for (const point of points.slice(1)) hand.move(point);
      hand.up(points.at(-1) as Point);
    },
    key: (key, more = {}) =>
      session.key({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more }),
    objects: () => objectsOf(session.editor.document),
    last: () => objectsOf(session.editor.document).at(-1) as AnnotationObject,
  };
  return hand;
}
