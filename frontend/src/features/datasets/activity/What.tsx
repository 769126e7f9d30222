import { Code, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Happening } from '@/api/contract/datasets';
import { AnchorLink } from '@/shared/ui/links';

/** `view.created` → `view_created`: a key of the words. */
const keyOf = (verb: string) => verb.replaceAll('.', '_');

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf).filter(Boolean) : []);

interface WhatProps {
  dataset: string;
  line: Happening;
}

/** An event in words, with a link to its object where there is a page. */
export function What({ dataset, line }: WhatProps) {
  const { t, i18n } = useTranslation();
  const key = `activity.verbs.${keyOf(line.verb)}`;
  // A newer server may tell of what this page has no words for.
  const said = i18n.exists(key) ? t(key as 'activity.verbs.tag_created') : undefined;
  return (
    <Group gap={6} wrap="wrap">
      {said ? <Text size="sm">{said}</Text> : <Code>{line.verb}</Code>}
      <Thing dataset={dataset} line={line} />
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {more(line)}
      </Text>
    </Group>
  );
}

/** The facts beside the name. */
function more({ version, data, verb }: Happening): string {
  if (version) return version.message.split('\n')[0] ?? '';
  if (verb === 'version.expired') return textsOf(data.versions).join(', ');
  return [data.reason, data.was, data.operation, data.node].map(textOf).filter(Boolean).join(' · ');
}

function Thing({ dataset, line: { kind, version, data, verb, object_id } }: WhatProps) {
  const params = { name: dataset };
  const words = textOf(data.name) || textOf(data.ref) || textOf(data.source) || textOf(data.branch);
  if (version)
    return (
      <AnchorLink to="/datasets/$name" params={params} search={{ ref: version.ref }} size="sm">
        {version.ref}
      </AnchorLink>
    );
  if (kind === 'labels' && words)
    return (
      <AnchorLink to="/labeling/$taskId" params={{ taskId: object_id }} size="sm">
        {words}
      </AnchorLink>
    );
  if (kind === 'cleaning')
    return (
      <AnchorLink to="/datasets/$name/cleaning" params={params} search={{ report: object_id }} size="sm">
        {textOf(data.ref) || dataset}
      </AnchorLink>
    );
  if (kind === 'views' && verb !== 'view.deleted' && words)
    return (
      <AnchorLink to="/datasets/$name" params={params} search={{ view: words }} size="sm">
        {words}
      </AnchorLink>
    );
  if (kind === 'refs' && !verb.endsWith('deleted') && words)
    return (
      <AnchorLink to="/datasets/$name" params={params} search={{ ref: words }} size="sm">
        {words}
      </AnchorLink>
    );
  if (kind === 'keeping')
    return (
      <AnchorLink to="/datasets/$name/keeping" params={params} size="sm">
        {textOf(data.ref) || dataset}
      </AnchorLink>
    );
  if (kind === 'sources' && words)
    return (
      <AnchorLink to="/sources" size="sm">
        {words}
      </AnchorLink>
    );
  return words ? <Text size="sm">{words}</Text> : null;
}
