import i18next, { type TFunction } from 'i18next';
import { beforeAll, expect, test } from 'vitest';
import type { LineageNode } from '@/api/contract/models';
import zh from '@/i18n/zh';
import { createFormat } from '@/shared/format';
import { nodeWords } from './lineageWords';

beforeAll(async () => {
  await i18next.init({ lng: 'zh', resources: { zh: { translation: zh } }, interpolation: { escapeValue: false } });
});

const chinese = (node: Partial<LineageNode>) =>
  nodeWords(
    { id: 'x', title: 'digits@v1', subtitle: 'English', url: null, digest: null, facts: {}, ...node } as LineageNode,
    i18next.getFixedT('zh') as TFunction,
    createFormat('zh'),
  );

test('what a node says of itself is said in the reader’s language', () => {
  expect(chinese({ kind: 'dataset_version', facts: { files: 60 } })).toMatchObject({
    title: 'digits@v1',
    subtitle: '60 个文件',
  });
  expect(chinese({ kind: 'artifact', facts: { size_bytes: 2048 } }).subtitle).toBe('2 KiB');
  expect(chinese({ kind: 'runtime', facts: { packages: 3, python: '3.11' } }).subtitle).toBe('Python 3.11，3 项依赖');
  expect(chinese({ kind: 'evaluation', facts: { accuracy: 0.875, samples: 24, split: 'test' } })).toMatchObject({
    title: 'test 上 87.5%',
    subtitle: '24 个样本',
  });
});

test('names that people gave stay as they are', () => {
  expect(chinese({ kind: 'run', title: '#1 baseline', subtitle: '{"epochs": 3}' })).toMatchObject({
    title: '#1 baseline',
    subtitle: '{"epochs": 3}',
  });
});
