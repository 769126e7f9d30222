/** An object on a picture, its label and attributes by name. */
export interface NamedObject {
  id: string;
  label: string;
  kind: string;
  box?: number[];
  angle?: number;
  parts?: number[][][];
  points?: number[];
  rle?: { size: [height: number, width: number]; counts: string };
  attributes?: Readonly<Record<string, unknown>>;
  ignore?: boolean;
  text?: string;
}

/** A picture's objects in the picture's own pixels. */
export interface NamedDocument {
  width: number;
  height: number;
  labels?: string[];
  attributes?: Readonly<Record<string, unknown>>;
  objects: NamedObject[];
}

const path = (points: readonly number[], isClosed: boolean): string => {
  const steps: string[] = [];
  for (let at = 0; at + 1 < points.length; at += 2)
    steps.push(`${at === 0 ? 'M' : 'L'}${points[at]} ${points[at + 1]}`);
  return steps.join('') + (isClosed ? 'Z' : '');
};

function boxPath([x = 0, y = 0, width = 0, height = 0]: readonly number[]): string {
  return path([x, y, x + width, y, x + width, y + height, x, y + height], true);
}

/** The corners of a rotated box: centre, size, degrees clockwise on the screen. */
export function corners([cx = 0, cy = 0, width = 0, height = 0]: readonly number[], angle: number): number[] {
  const turn = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const around = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ] as const;
  return around.flatMap(([right, down]) => {
    const [x, y] = [(right * width) / 2, (down * height) / 2];
    return [cx + x * cos - y * sin, cy + x * sin + y * cos];
  });
}

/** The outline of an object as an SVG path; empty for points and masks. */
export function outlineOf(object: NamedObject): string {
  const { kind, box = [], points = [] } = object;
  if (kind === 'box') return boxPath(box);
  if (kind === 'rotated_box') return path(corners(box, object.angle ?? 0), true);
  if (kind === 'polygon')
    return (object.parts ?? []).flatMap((rings) => rings.map((ring) => path(ring, true))).join('');
  if (kind === 'polyline') return path(points, false);
  return kind === 'keypoints' && box.length === 4 ? boxPath(box) : '';
}

/** The points that an object shows: those of a skeleton that are on the picture. */
export function dotsOf({ kind, points = [] }: NamedObject): { x: number; y: number; isHidden: boolean }[] {
  const width = kind === 'keypoints' ? 3 : 2;
  if (kind !== 'keypoints' && kind !== 'point') return [];
  const dots = [];
  for (let at = 0; at + width <= points.length; at += width) {
    const visibility = width === 3 ? points[at + 2] : 2;
    if (visibility) dots.push({ x: points[at] as number, y: points[at + 1] as number, isHidden: visibility === 1 });
  }
  return dots;
}

/** The lengths of the runs of a COCO mask, from its compressed text. */
function runsOf(counts: string): number[] {
  const runs: number[] = [];
  let at = 0;
  while (at < counts.length) {
    let value = 0;
    let shift = 0;
    let part: number;
    do {
      part = counts.charCodeAt(at++) - 48;
      value |= (part & 31) << shift;
      shift += 5;
    } while (part & 32 && at < counts.length);
    // The last part's highest bit is the sign.
    if (part & 16 && shift < 32) value |= -1 << shift;
    if (runs.length > 2) value += runs[runs.length - 2] as number;
    runs.push(value);
  }
  return runs;
}

/** A mask as upright strips, `[x, y, height]`: it is stored column by column. */
export function maskStrips({ size: [height], counts }: NonNullable<NamedObject['rle']>): number[][] {
  const strips: number[][] = [];
  let pixel = 0;
  runsOf(counts).forEach((run, index) => {
    const end = pixel + run;
    while (index % 2 === 1 && pixel < end) {
      const y = pixel % height;
      const length = Math.min(height - y, end - pixel);
      strips.push([Math.floor(pixel / height), y, length]);
      pixel += length;
    }
    pixel = end;
  });
  return strips;
}

const PALETTE = [
  '#5b6bf0',
  '#e8710a',
  '#0ca678',
  '#d6336c',
  '#1098ad',
  '#9c6ade',
  '#b08900',
  '#5c940d',
  '#c2255c',
  '#748091',
];

/** The colour of a label: the same wherever its name is shown. */
export function colorOfLabel(name: string): string {
  let hash = 0;
  for (let at = 0; at < name.length; at++) hash = (hash * 31 + name.charCodeAt(at)) >>> 0;
  return PALETTE[hash % PALETTE.length] as string;
}

/** How many objects each label has, the most frequent first. */
export function labelCounts(objects: readonly NamedObject[]): [label: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { label } of objects) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].sort(([one, many], [other, more]) => more - many || one.localeCompare(other));
}
