import { afterEach, expect, test } from 'vitest';
import { ApiError, readApiError } from '@/api/errors';
import { setLanguage } from '@/i18n';
import { fieldWords, translatedProblem } from './problemWords';

afterEach(() => setLanguage('en'));

const refused = { status: 409, code: 'dataset_held', title: 'A legal hold keeps the dataset: it cannot be deleted.' };

test('a problem has its title, its detail and what to do next in the language of the page', async () => {
  const error = new ApiError({ ...refused, detail: '2 legal holds keep pets.', action: 'Release its holds first.' });
  expect(translatedProblem(error)).toBeUndefined();
  await setLanguage('zh');
  expect(translatedProblem(error)).toEqual({
    title: '有法律封存保留该数据集：不能删除。',
    detail: '有 2 项法律封存保留 pets。',
    action: '请先解除封存。',
  });
  expect(translatedProblem(new ApiError({ ...refused, detail: refused.title }))?.detail).toBe('');
  expect(translatedProblem(new ApiError({ ...refused, code: 'of_tomorrow' }))).toBeUndefined();
});

test('a detail keeps the values that it names, says those that are words, and stays where its text is not known', async () => {
  await setLanguage('zh');
  const said = (detail: string) => translatedProblem(new ApiError({ ...refused, detail }))?.detail;
  expect(said('pets (old).v1 has no branch a.b has no tag c.')).toBe('pets (old).v1 没有分支 a.b has no tag c。');
  expect(said('The changes file is quarantined: The column path is missing.')).toBe(
    '变更文件的状态为“已隔离”：缺少列 path。',
  );
  expect(said('Both sides changed a.png, b.png and 12 more.')).toBe('双方都改了 a.png, b.png 等（另有 12 个）。');
  expect(said('There is no sample in the split val of pets@v3 that matches size > 3.')).toBe(
    'pets@v3 的划分 val 里符合 size > 3 的部分中没有样本。',
  );
  expect(said('1 item is not finished.')).toBe('1 个条目未完成。');
  expect(said('pets is at no commit.')).toBe('pets 现位于 尚无提交之处。');
  expect(said('A text of tomorrow')).toBe('A text of tomorrow');
});

test('a detail with a code is said by its code and values, whatever its English text is', async () => {
  const body = {
    ...refused,
    detail: 'Some English.',
    detail_code: 'core.no_transition',
    detail_params: { old: 'queued', new: 'of_tomorrow' },
  };
  const error = await readApiError(new Response(JSON.stringify(body), { status: 409 }));
  await setLanguage('zh');
  expect(translatedProblem(error)?.detail).toBe('当前状态为“排队中”，不能变为“of_tomorrow”。');
});

test('what is wrong with a field is said in the language of the page, by its code and values', async () => {
  const errors = {
    name: ['Ensure it.', 'And it.'],
    'edits.0.to': ['Only /.'],
    where: ['Character 3: it is empty.'],
    size: ['Must be at most 9, got 12.'],
    side: ['No.'],
  };
  const error_codes = {
    name: [
      { code: 'max_length', params: { limit: 63 } },
      { code: 'slug', params: {} },
    ],
    'edits.0.to': [{ code: 'invalid_choice', params: { input: '<b>' } }],
    where: [{ code: 'invalid', params: {} }],
    size: [{ code: 'invalid', params: {} }],
  };
  const body = JSON.stringify({ code: 'invalid', title: 'No.', errors, error_codes });
  const error = await readApiError(new Response(body, { status: 400 }));
  expect(fieldWords(error)).toEqual({
    name: 'Ensure it. And it.',
    'edits.0.to': 'Only /.',
    where: 'Character 3: it is empty.',
    size: 'Must be at most 9, got 12.',
    side: 'No.',
  });
  await setLanguage('zh');
  expect(fieldWords(error)).toEqual({
    name: '最多 63 个字符。请使用 1 到 63 个小写字母、数字、点、短横线或下划线。',
    'edits.0.to': '“<b>”不是可选的值。',
    // An error without a code of its own is translated by its text; a foreign one stays as the server has it.
    where: '第 3 个字符：内容为空。',
    size: '至多为 9，得到的是 12。',
    side: 'No.',
  });
});

test('what is wrong with a search or a query is said in the language of the page, with its place and values', async () => {
  await setLanguage('zh');
  const said = (text: string) => fieldWords(new ApiError({ ...refused, fields: { search: text } })).search;
  expect(said("Character 4: there is no state 'lost'. Write one of: failed, queued.")).toBe(
    "第 4 个字符：没有状态 'lost'。可选：failed, queued。",
  );
  expect(said('Character 1: pets has no branch v9. Write dataset:pets@v3.')).toBe(
    '第 1 个字符：pets 没有分支 v9。请写成 dataset:pets@v3。',
  );
  expect(said("Character 2: size is a number and 'x' is text: they cannot be compared.")).toBe(
    "第 2 个字符：size 是数字，'x' 是文本，两者不能比较。",
  );
});
