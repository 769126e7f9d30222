import { Thumb } from '@/shared/grid/Thumb';
import { VirtualGrid } from '@/shared/grid/VirtualGrid';
import { Frames, restMs, untilDrawn } from './frames';

export const IMAGES = 1_000_000;
const ANSWER_MS = 80;
/** Nothing is answered while many places are dragged past. */
const SLOW_MS = 30_000;
const PLACES = 8;
const JUMPS = 15;

interface Row {
  name: string;
  src: string;
}

interface Asked {
  start: number;
  end: number;
  state: 'waits' | 'aborted' | 'answered';
}

let answerMs = ANSWER_MS;
let asked: Asked[] = [];

/** A page of rows after as long as a near server takes; what has scrolled away is not waited for. */
function loadRange(start: number, end: number, signal: AbortSignal): Promise<Row[]> {
  const one: Asked = { start, end, state: 'waits' };
  asked.push(one);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      one.state = 'answered';
      resolve(Array.from({ length: end - start }, (_, offset) => rowOf(start + offset)));
    }, answerMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      one.state = 'aborted';
      reject(new DOMException('gone', 'AbortError'));
    });
  });
}

/** One of 64 pictures, as many as a screen has: what is measured is the grid, not the decoder. */
function rowOf(index: number): Row {
  const hue = (index % 64) * 5;
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><rect width="96" height="96" fill="hsl(${hue} 60% 50%)"/></svg>`;
  return { name: `image-${index}.png`, src: `data:image/svg+xml,${encodeURIComponent(picture)}` };
}

const renderCell = ({ name, src }: Row) => (
  <>
    <Thumb src={src} />
    <span data-name>{name}</span>
  </>
);
const heightOf = (width: number) => width + 26;

export const Grid = () => (
  <VirtualGrid
    label="images"
    count={IMAGES}
    loadRange={loadRange}
    sourceKey="bench"
    renderCell={renderCell}
    cellHeight={heightOf}
  />
);

const scroller = () => document.querySelector('[role=grid]') as HTMLElement;
const firstIndex = () => Number(document.querySelector('[data-index]')?.getAttribute('data-index'));

let frames = new Frames();
export const grid = {
  images: IMAGES,
  isReady: () => document.querySelector('[data-name]') !== null,
  watch: () => {
    frames = new Frames();
  },
  watched: () => frames.stop(),
  /** Jumps to places far apart; how long until rows of each are drawn. */
  async jumps(): Promise<number[]> {
    const took: number[] = [];
    for (let n = 1; n <= JUMPS; n += 1) {
      const before = firstIndex();
      const to = ((n * 7) % JUMPS) / JUMPS;
      const element = scroller();
      took.push(
        await untilDrawn(
          () => {
            element.scrollTop = to * (element.scrollHeight - element.clientHeight);
          },
          () => firstIndex() !== before,
        ),
      );
      await restMs(150);
    }
    return took;
  },
  /** Drags past many places while the server answers slowly; what is still asked for afterwards. */
  async dragPast(): Promise<{ asked: number; aborted: number; wentOn: number }> {
    answerMs = SLOW_MS;
    asked = [];
    const element = scroller();
    for (let n = 1; n <= PLACES; n += 1) {
      element.scrollTop = (n / (PLACES + 1)) * element.scrollHeight;
      // Longer than the grid rests before it asks.
      await restMs(200);
    }
    await restMs(500);
    answerMs = ANSWER_MS;
    const cells = [...document.querySelectorAll('[data-index]')].map((cell) => Number(cell.getAttribute('data-index')));
    const from = Math.min(...cells);
    const to = Math.max(...cells);
    const away = asked.filter(({ start, end, state }) => state !== 'aborted' && (end <= from || start > to));
    const aborted = asked.filter(({ state }) => state === 'aborted').length;
    return { asked: asked.length, aborted, wentOn: away.length };
  },
  async last(): Promise<string> {
    scroller().scrollTop = scroller().scrollHeight;
    await restMs(1000);
    return document.querySelector(`[data-index="${IMAGES - 1}"] [data-name]`)?.textContent ?? '';
  },
};
