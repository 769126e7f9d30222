import { createRef, useEffect, useState } from 'react';
import '@/features/labeling/words';
import { CanvasView } from '@/features/labeling/canvas/CanvasView';
import type { CanvasController } from '@/features/labeling/canvas/controller';
import type { AnnotationObject, DocumentV2, Ontology, Shape } from '@/features/labeling/canvas/model';
import type { ToolName } from '@/features/labeling/canvas/tools/tool';
import { toScreen } from '@/features/labeling/canvas/view';
import { Frames } from './frames';

const COLORS = ['#748ffc', '#ffa94d', '#63e6be', '#f783ac', '#ffe066', '#66d9e8'];
const ONTOLOGY: Ontology = {
  labels: COLORS.map((color, index) => ({
    id: index + 1,
    name: `class ${index + 1}`,
    color,
    tools: ['box', 'polygon', 'mask'],
  })),
};
const PICKS = 10_000;

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

function shapeAt(next: () => number, width: number, height: number): Shape {
  const size = 20 + next() * 80;
  const [x, y] = [next() * (width - size), next() * (height - size)];
  if (next() < 0.5) return { kind: 'box', box: [x, y, size, size * 0.7] };
  const count = 10 + Math.floor(next() * 14);
  const ring = Array.from({ length: count }, (_, index) => {
    const angle = (index / count) * 2 * Math.PI;
    const radius = (size / 2) * (0.8 + 0.2 * next());
    return [x + size / 2 + Math.cos(angle) * radius, y + size / 2 + Math.sin(angle) * radius];
  }).flat();
  return { kind: 'polygon', parts: [[ring]] };
}

function documentOf(count: number, width: number, height: number): DocumentV2 {
  const next = random(7);
  const objects = Array.from({ length: count }, (_, index) => ({
    id: index.toString(16).padStart(16, '0'),
    label: 1 + (index % COLORS.length),
    ...shapeAt(next, width, height),
  })) as AnnotationObject[];
  return { version: 2, width, height, objects };
}

/** A picture with something to see, as large as a camera's. */
async function pictureOf(width: number, height: number): Promise<ImageBitmap> {
  const canvas = new OffscreenCanvas(width, height);
  const to = canvas.getContext('2d');
  const next = random(3);
  for (let index = 0; to && index < 400; index++) {
    to.fillStyle = `hsl(${next() * 360} 40% ${30 + next() * 40}%)`;
    to.fillRect(next() * width, next() * height, width / 8, height / 8);
  }
  return createImageBitmap(canvas);
}

interface Setting {
  document: DocumentV2;
  image: ImageBitmap;
  tool: ToolName;
}

const handle = createRef<CanvasController>();
let show: (setting: Setting) => void = () => {};

export function Canvas() {
  const [setting, setSetting] = useState<Setting | null>(null);
  useEffect(() => {
    show = setSetting;
  }, []);
  if (!setting) return null;
  return (
    <CanvasView
      handle={handle}
      document={setting.document}
      image={setting.image}
      ontology={ONTOLOGY}
      activeLabel={1}
      activeTool={setting.tool}
    />
  );
}

let frames = new Frames();
export const canvas = {
  isReady: () => handle.current !== null,
  shapes: async (count: number) => {
    const [width, height] = [1920, 1080];
    show({ document: documentOf(count, width, height), image: await pictureOf(width, height), tool: 'select' });
  },
  brush: async (width: number, height: number, radius: number) => {
    show({ document: documentOf(0, width, height), image: await pictureOf(width, height), tool: 'brush' });
    handle.current?.session.setBrush({ radius });
  },
  watch: () => {
    frames = new Frames();
  },
  watched: () => frames.stop(),
  /** A place on the screen inside of a shape that can be dragged. */
  placeOfShape: () => {
    const session = handle.current?.session;
    const object = session?.editor.document.objects?.find(({ kind }) => kind === 'box');
    if (!session || object?.kind !== 'box') return null;
    const [x, y, width, height] = object.box;
    return toScreen(session.view, [x + width / 2, y + height / 2]);
  },
  /** Milliseconds of each pick, the first of which makes the index. */
  picks: () => {
    const session = handle.current?.session;
    const next = random(11);
    return Array.from({ length: PICKS }, () => {
      const started = performance.now();
      session?.pick([next() * 1920, next() * 1080]);
      return performance.now() - started;
    });
  },
  /** Milliseconds from a step of the brush until its pixels are on the canvas. */
  strokes: async (steps: number) => {
    const controller = handle.current;
    if (!controller) return [];
    const { session } = controller;
    const { width, height } = session.size;
    const pointer = (share: number) =>
      session.pointerAt([width * (0.2 + 0.6 * share), height * (0.5 + 0.3 * Math.sin(share * 12))], {
        kind: 'mouse',
        button: 0,
        shift: false,
        ctrl: false,
        alt: false,
        presses: 1,
      });
    session.pointerDown(pointer(0));
    await new Promise(requestAnimationFrame);
    const layer = document.querySelectorAll('canvas')[1] as HTMLCanvasElement;
    const costs: number[] = [];
    for (let step = 1; step <= steps; step++) {
      const started = performance.now();
      session.pointerMove(pointer(step / steps));
      controller.paintNow();
      // Reading one pixel waits for all that was drawn.
      layer.getContext('2d')?.getImageData(0, 0, 1, 1);
      costs.push(performance.now() - started);
      await new Promise(requestAnimationFrame);
    }
    session.pointerUp(pointer(1));
    return costs;
  },
  controller: () => handle.current,
  repaint: () => handle.current?.setLook({}),
  area: () => handle.current?.session.editor.document.objects?.length ?? 0,
};
