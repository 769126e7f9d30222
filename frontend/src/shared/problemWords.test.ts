import { afterEach, expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { setLanguage } from '@/i18n';
import { translatedProblem } from './problemWords';

afterEach(() => setLanguage('en'));

const refused = { status: 409, code: 'dataset_held', title: 'A legal hold keeps the dataset: it cannot be deleted.' };

test('a problem has its title and what to do next in the language of the page; its detail is the server’s', async () => {
  const error = new ApiError({ ...refused, detail: '2 legal holds keep pets.', action: 'Release its holds first.' });
  expect(translatedProblem(error)).toBeUndefined();
  await setLanguage('zh');
  expect(translatedProblem(error)).toEqual({
    title: '有法律封存保留该数据集：不能删除。',
    detail: '2 legal holds keep pets.',
    action: '请先解除封存：atom data hold list DATASET',
  });
  expect(translatedProblem(new ApiError({ ...refused, detail: refused.title }))?.detail).toBe('');
  expect(translatedProblem(new ApiError({ ...refused, code: 'of_tomorrow' }))).toBeUndefined();
});
