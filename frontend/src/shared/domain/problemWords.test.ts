import { afterEach, expect, test } from 'vitest';
import { ApiError, readApiError } from '@/api/errors';
import { setLanguage } from '@/i18n';
import { fieldWords, problemWords, translatedProblem } from './problemWords';

afterEach(() => setLanguage('en'));

const refused = { status: 409, code: 'dataset_held', title: 'A legal hold keeps the dataset: it cannot be deleted.' };

const heldTwice = {
  ...refused,
  detail: '2 legal holds keep pets.',
  sentence: { code: 'datasets.legal_holds_keep', params: { count: 2, kept: 'pets' } },
};

test('a problem has its title, its detail and what to do next in the language of the page', async () => {
  const error = new ApiError({ ...heldTwice, action: 'Release its holds first.' });
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

test('a detail names its values, says those that are words or sentences, and stays as it is without a known code', async () => {
  await setLanguage('zh');
  const said = (code: string, params: Record<string, unknown>) =>
    translatedProblem(new ApiError({ ...refused, detail: 'Some English.', sentence: { code, params } }))?.detail;
  expect(said('datasets.branch_unknown', { dataset: 'pets {branch}', branch: '$&' })).toBe(
    'pets {branch} 没有分支 $&。',
  );
  const missing = { code: 'datasets.column_missing', params: { column: 'path' } };
  expect(said('datasets.changes_file_refused', { state: 'quarantined', reason: missing })).toBe(
    '变更文件的状态为“已隔离”：缺少列 path。',
  );
  const paths = { code: 'core.names_and_more', params: { names: 'a.png, b.png', count: 12 } };
  expect(said('datasets.both_sides_changed', { paths })).toBe('双方都改了 a.png, b.png 等（另有 12 个）。');
  const split = { code: 'cache.split_of', params: { splits: 'val', version: 'pets@v3' } };
  const selection = { code: 'cache.that_matches', params: { selection: split, where: 'size > 3' } };
  expect(said('cache.nothing_selected', { selection })).toBe('pets@v3 的划分 val 里符合 size > 3 的部分中没有样本。');
  expect(said('datasets.branch_is_at', { branch: 'pets', head: 'no commit' })).toBe('pets 现位于 尚无提交之处。');
  expect(said('of.tomorrow', {})).toBe('Some English.');
});

test('the problem of an answer is read with its code and values', async () => {
  const body = {
    ...refused,
    detail: 'Some English.',
    detail_code: 'core.no_transition',
    detail_params: { old: 'queued', new: 'of_tomorrow' },
  };
  const error = await readApiError(new Response(JSON.stringify(body), { status: 409 }));
  await setLanguage('zh');
  expect(translatedProblem(error)?.detail).toBe('当前状态为“排队中”，不能变为“of_tomorrow”。');
  expect(problemWords({ ...body, action: '' }).detail).toBe('当前状态为“排队中”，不能变为“of_tomorrow”。');
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
    where: [{ code: 'query.at_character', params: { position: 3, problem: { code: 'query.empty', params: {} } } }],
    size: [{ code: 'jobs.above_maximum', params: { max: 9, input: '12' } }],
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
  const at = (position: number, code: string, params: Record<string, unknown>) => {
    const place = { code: 'query.at_character', params: { position, problem: { code, params } } };
    const error = new ApiError({ ...refused, fields: { search: 'Some English.' }, fieldCodes: { search: [place] } });
    return fieldWords(error).search;
  };
  expect(at(4, 'jobs.search_state_unknown', { value: "'lost'", known: 'failed, queued' })).toBe(
    "第 4 个字符：没有状态 'lost'。可选：failed, queued。",
  );
  const unknown = { code: 'datasets.branch_unknown', params: { dataset: 'pets', branch: 'v9' } };
  expect(at(1, 'jobs.search_version_unknown', { problem: unknown, dataset: 'pets' })).toBe(
    '第 1 个字符：pets 没有分支 v9。请写成 dataset:pets@v3。',
  );
  const types = { left: 'size', left_type: 'a number', right: "'x'", right_type: 'text' };
  expect(at(2, 'query.types_differ', types)).toBe("第 2 个字符：size 是数字，'x' 是文本，两者不能比较。");
});
