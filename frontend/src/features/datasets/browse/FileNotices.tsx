import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { VersionStats } from '@/api/contract/datasets';
import { AnchorLink } from '@/shared/links';
import { visible } from '@/shared/visible';

interface FileNoticesProps {
  stats: VersionStats;
  name: string;
  dataRef: string | undefined;
}

/** Files of a version that a training does not take as one may think, with the first paths. */
export function FileNotices({ stats, name, dataRef }: FileNoticesProps) {
  const { t } = useTranslation();
  return (
    <>
      {stats.unreadable > 0 && (
        <Notice
          color="orange"
          title={t('datasets.unreadable', { count: stats.unreadable })}
          count={stats.unreadable}
          paths={stats.unreadable_paths}
        >
          {t('datasets.unreadableHint')}{' '}
          <AnchorLink
            to="/datasets/$name"
            params={{ name }}
            search={{ ref: dataRef, where: 'attributes.unreadable IS NOT NULL' }}
            size="sm"
          >
            {t('datasets.unreadableShow')}
          </AnchorLink>
        </Notice>
      )}
      {stats.unsplit > 0 && (
        <Notice
          color="yellow"
          title={t('datasets.unsplit', { count: stats.unsplit })}
          count={stats.unsplit}
          paths={stats.unsplit_paths}
        >
          {t('datasets.unsplitHint')}{' '}
          <AnchorLink
            to="/datasets/$name"
            params={{ name }}
            search={{ ref: dataRef, where: 'split is null' }}
            size="sm"
          >
            {t('datasets.unsplitShow')}
          </AnchorLink>
        </Notice>
      )}
    </>
  );
}

interface NoticeProps {
  color: string;
  title: string;
  count: number;
  paths: readonly string[];
  children: ReactNode;
}

function Notice({ color, title, count, paths, children }: NoticeProps) {
  return (
    <Alert color={color} icon={<IconAlertTriangle size={18} />} mb="sm" py="xs" title={title}>
      <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {paths.map(visible).join(', ')}
        {count > paths.length && ' …'}
      </Text>
      <Text size="sm">{children}</Text>
    </Alert>
  );
}
