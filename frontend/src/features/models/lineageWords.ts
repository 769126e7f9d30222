import type { TFunction } from 'i18next';
import type { Lineage, LineageNode } from '@/api/contract/models';
import type { Format } from '@/shared/ui/format';

const EDGES = ['code', 'runtime', 'wrote', 'registered', 'evaluated', 'measured', 'labels', 'labeled'] as const;

/** The relation of one thing to another, in the reader's language; for data, the name that the reader gave it. */
export function edgeWords(edge: Lineage['edges'][number], nodes: readonly LineageNode[], t: TFunction, format: Format) {
  const titleOf = (id: string) => {
    const node = nodes.find((one) => one.id === id);
    return node ? nodeWords(node, t, format).title : '';
  };
  const known = EDGES.find((one) => one === edge.label);
  const how = known ? t(`models.edge.${known}`) : t('models.edge.read', { label: edge.label });
  return t('models.edgeLabel', { from: titleOf(edge.from), how, to: titleOf(edge.to) });
}

export interface NodeWords {
  kind: string;
  title: string;
  subtitle: string;
}

/** A node in the reader's language, from its facts; names that people gave stay as they are. */
export function nodeWords(node: LineageNode, t: TFunction, format: Format): NodeWords {
  const kind = t(`models.kind.${node.kind}`, { defaultValue: node.kind });
  const { files, size_bytes: sizeBytes, samples, accuracy, split, packages, python } = node.facts;
  const words = { kind, title: node.title, subtitle: node.subtitle };
  if (typeof files === 'number') return { ...words, subtitle: t('models.fact.files', { count: files }) };
  if (typeof sizeBytes === 'number') return { ...words, subtitle: format.bytes(sizeBytes) };
  if (typeof packages === 'number')
    return { ...words, title: kind, subtitle: t('models.fact.packages', { count: packages, python: String(python) }) };
  if (typeof accuracy === 'number' && typeof samples === 'number')
    return {
      ...words,
      title: t('models.fact.accuracy', { accuracy: format.percent(accuracy, 2), split: String(split) }),
      subtitle: t('models.fact.samples', { count: samples }),
    };
  return node.kind === 'code' && node.title === 'Code' ? { ...words, title: kind } : words;
}
