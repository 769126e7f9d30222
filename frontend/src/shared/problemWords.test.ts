import { afterEach, expect, test } from 'vitest';
import { ApiError, readApiError } from '@/api/errors';
import { setLanguage } from '@/i18n';
import { fieldWords, translatedProblem } from './problemWords';

afterEach(() => setLanguage('en'));

const refused = { status: 409, code: 'dataset_held', title: 'A legal hold keeps the dataset: it cannot be deleted.' };

test('a problem has its title and what to do next in the language of the page; its detail is the server’s', async () => {
  const error = new ApiError({ ...refused, detail: '2 legal holds keep pets.', action: 'Release its holds first.' });
  expect(translatedProblem(error)).toBeUndefined();
  await setLanguage('zh');
  expect(translatedProblem(error)).toEqual({
    title: '有法律封存保留该数据集：不能删除。',
    detail: '2 legal holds keep pets.',
    action: '请先解除封存。',
  });
  expect(translatedProblem(new ApiError({ ...refused, detail: refused.title }))?.detail).toBe('');
  expect(translatedProblem(new ApiError({ ...refused, code: 'of_tomorrow' }))).toBeUndefined();
});

test('what is wrong with a field is said in the language of the page, by its code and values', async () => {
  const errors = {
    name: ['Ensure it.', 'And it.'],
    'edits.0.to': ['Only /.'],
    where: ['Character 3: odd.'],
    side: ['No.'],
  };
  const error_codes = {
    name: [
      { code: 'max_length', params: { limit: 63 } },
      { code: 'slug', params: {} },
    ],
    'edits.0.to': [{ code: 'invalid_choice', params: { input: '<b>' } }],
    where: [{ code: 'invalid', params: {} }],
  };
  const body = JSON.stringify({ code: 'invalid', title: 'No.', errors, error_codes });
  const error = await readApiError(new Response(body, { status: 400 }));
  expect(fieldWords(error)).toEqual({
    name: 'Ensure it. And it.',
    'edits.0.to': 'Only /.',
    where: 'Character 3: odd.',
    side: 'No.',
  });
  await setLanguage('zh');
  expect(fieldWords(error)).toEqual({
    name: '最多 63 个字符。请使用 1 到 63 个小写字母、数字、点、短横线或下划线。',
    'edits.0.to': '“<b>”不是可选的值。',
    // What has no code of its own, or comes from elsewhere, is said as the server says it.
    where: 'Character 3: odd.',
    side: 'No.',
  });
});
