import { expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import type { DocumentV2 } from '../canvas/model';
import { slot } from '../workspace/fakeTask';
import { DocumentSender, type DraftBody } from './documentSender';

const object = (id: string, x: number) => ({ id, label: 1, kind: 'box' as const, box: [x, 0, 5, 5] as never });
const picture = (...objects: ReturnType<typeof object>[]) => ({
  version: 2 as const,
  width: 640,
  height: 480,
  objects: objects as never[],
});
const many = Array.from({ length: 20 }, (_, n) => object(`${n}`.padStart(16, '0'), n));

function sender(answer: (body: DraftBody) => void = () => {}) {
  const bodies: DraftBody[] = [];
  const made = new DocumentSender(async (_slot, body) => {
    bodies.push(body);
    answer(body);
  });
  return { made, bodies };
}

test('the first draft goes whole, the next as steps from it', async () => {
  const { made, bodies } = sender();
  await made.send(slot(1), 1, picture(...many));
  await made.send(slot(1), 2, picture(...many.slice(1)));
  expect(bodies).toEqual([
    { seq: 1, document: picture(...many) },
    { seq: 2, base: 1, patch: [{ op: 'remove', path: '/objects/0' }] },
  ]);
});

test('a draft that came with its picture is the base', async () => {
  const { made, bodies } = sender();
  made.confirm([slot(1, { draft: picture(...many) as never, draft_seq: 7 })]);
  await made.send(slot(1), 8, picture(...many.slice(1)));
  expect(bodies).toMatchObject([{ seq: 8, base: 7 }]);
});

test('where the server has another draft it gets the whole', async () => {
  const unknown = new ApiError({ status: 409, code: 'draft_base_unknown', title: 'No.' });
  const { made, bodies } = sender((body) => {
    if ('patch' in body) throw unknown;
  });
  await made.send(slot(1), 1, picture(...many));
  await made.send(slot(1), 2, picture(...many.slice(1)));
  expect(bodies.at(-1)).toEqual({ seq: 2, document: picture(...many.slice(1)) });
});

test('a draft that did not arrive is no base', async () => {
  let offline = false;
  const { made, bodies } = sender(() => {
    if (offline) throw new TypeError('offline');
  });
  await made.send(slot(1), 1, picture(...many));
  offline = true;
  await expect(made.send(slot(1), 2, picture(...many.slice(1)))).rejects.toThrow('offline');
  offline = false;
  await made.send(slot(1), 3, picture(...many.slice(2)));
  expect(bodies.at(-1)).toMatchObject({ seq: 3, base: 1 });
});

test('steps that are longer than the document are not sent', async () => {
  const { made, bodies } = sender();
  const [one, other] = ['a', 'b'].map((id) => picture(object(id.repeat(16), 1)));
  await made.send(slot(1), 1, one as DocumentV2);
  await made.send(slot(1), 2, other as DocumentV2);
  expect(bodies.at(-1)).toEqual({ seq: 2, document: other });
});
