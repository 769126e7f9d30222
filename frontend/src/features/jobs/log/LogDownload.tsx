import { ActionIcon, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { IN_PALETTE } from '@/shared/ui/commands';
import { type LogQuery, rawLogUrl } from '../queries';

const STREAMS = ['stdout', 'stderr'] as const;

/** The whole log, one stream of it, or the lines that match what is looked for. */
export function LogDownload({
  run,
  attempt,
  rank,
  wanted,
}: {
  run: string;
  attempt: number | undefined;
  rank: number;
  wanted: LogQuery | null;
}) {
  const { t } = useTranslation();
  const whose = rank > 0 ? { rank } : {};
  return (
    <Menu position="bottom-end" {...IN_PALETTE}>
      <Menu.Target>
        <ActionIcon color="gray" aria-label={t('runlog.download')}>
          <IconDownload size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={rawLogUrl(run, attempt, whose)} download>
          {t('runlog.downloadAll')}
        </Menu.Item>
        {STREAMS.map((stream) => (
          <Menu.Item key={stream} component="a" href={rawLogUrl(run, attempt, { ...whose, stream })} download>
            {t('runlog.downloadStream', { stream })}
          </Menu.Item>
        ))}
        {wanted && (
          <Menu.Item component="a" href={rawLogUrl(run, attempt, wanted)} download>
            {t('runlog.downloadMatches')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
