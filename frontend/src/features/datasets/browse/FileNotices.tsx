import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { VersionStats } from '@/api/contract/datasets';
import { AnchorLink } from '@/shared/ui/links';
import { visible } from '@/shared/ui/visible';

/** Each kind of notice, with the query that shows its files. */
const KINDS = [
  { kind: 'unreadable', color: 'orange', where: 'attributes.unreadable IS NOT NULL' },
  { kind: 'unsplit', color: 'yellow', where: 'split is null' },
] as const;

interface FileNoticesProps {
  stats: VersionStats;
  name: string;
  dataRef: string | undefined;
}

/** Files of a version that a training does not take as one may think: a notice a kind, with its count and first paths. */
export function FileNotices({ stats, name, dataRef }: FileNoticesProps) {
  const { t } = useTranslation();
  return KINDS.map(({ kind, color, where }) => {
    const count = stats[kind];
    if (count === 0) return null;
    // One path a file: a file that is named twice is still one.
    const paths = [...new Set(stats[`${kind}_paths`])];
    return (
      <Alert
        key={kind}
        color={color}
        icon={<IconAlertTriangle size={18} />}
        mb="sm"
        py="xs"
        title={t(`datasets.${kind}`, { count })}
      >
        <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {paths.map(visible).join(', ')}
          {count > paths.length && ' …'}
        </Text>
        <Text size="sm">
          {t(`datasets.${kind}Hint`)}{' '}
          <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref: dataRef, where }} size="sm">
            {t(`datasets.${kind}Show`)}
          </AnchorLink>
        </Text>
      </Alert>
    );
  });
}
