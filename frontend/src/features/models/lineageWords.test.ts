import i18next, { type TFunction } from 'i18next';
import { beforeAll, expect, test } from 'vitest';
import type { LineageNode } from '@/api/contract/models';
import zh from '@/i18n/zh';
import { createFormat } from '@/shared/ui/format';
import { edgeWords, nodeWords } from './lineageWords';

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

test('what leads from one thing to another is said in the reader’s language', () => {
  const nodes = [
    { id: 'd', kind: 'dataset_version', title: 'digits@v3', subtitle: '', facts: {} },
    { id: 'r', kind: 'run', title: '#1 classifier', subtitle: '', facts: {} },
    { id: 'c', kind: 'code', title: 'Code', subtitle: '', facts: {} },
  ] as never[];
  const said = (edge: { from: string; to: string; label: string }) =>
    edgeWords(edge as never, nodes, i18next.getFixedT('zh') as TFunction, createFormat('zh'));
  expect(said({ from: 'c', to: 'r', label: 'code' })).toBe('代码 提供代码给 #1 classifier');
  expect(said({ from: 'd', to: 'r', label: 'train' })).toBe('digits@v3 作为 train 被读取于 #1 classifier');
});
