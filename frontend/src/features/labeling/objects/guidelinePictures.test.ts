import { expect, test } from 'vitest';
import { altOf, pictureIdOf, referencesOf, withAlt, withoutPicture, withPicture } from './guidelinePictures';

const A = '0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b90';
const B = '0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b91';
const named = (id: string, alt = '') => `![${alt}](picture:${id})`;

test('an address names a picture by its id and nothing else', () => {
  expect(pictureIdOf(`picture:${A.toUpperCase()}`)).toBe(A);
  expect(pictureIdOf('picture:../../secrets')).toBeNull();
  expect(pictureIdOf(`https://elsewhere/picture:${A}`)).toBeNull();
});

test('the pictures of a text come in its order', () => {
  const text = `One ${named(A, 'a car')} two\n${named(B)}`;
  expect(referencesOf(text).map(({ id, alt }) => [id, alt])).toEqual([
    [A, 'a car'],
    [B, ''],
  ]);
});

test('a picture goes where the cursor is, on a line of its own', () => {
  expect(withPicture('', [0, 0], A, 'car').text).toBe(`${named(A, 'car')}\n\n`);
  const { text, cursor } = withPicture('before after', [6, 7], A, 'car');
  expect(text).toBe(`before\n\n${named(A, 'car')}\n\nafter`);
  expect(text.slice(0, cursor)).toBe(`before\n\n${named(A, 'car')}`);
});

test('a description cannot end the picture', () => {
  expect(altOf('a [red] car.jpeg')).toBe('a  red  car');
  const text = named(A, 'old');
  const [reference] = referencesOf(text);
  expect(reference && withAlt(text, reference, 'x](y)[z')).toBe(named(A, 'x (y) z'));
});

test('a picture that is taken out leaves no empty lines', () => {
  const text = `Look.\n\n${named(A)}\n\nEnd.`;
  const [reference] = referencesOf(text);
  expect(reference && withoutPicture(text, reference)).toBe('Look.\n\nEnd.');
});
