import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { QuarantinedPack } from '@/api/contract/datasets';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CopyId } from '@/shared/ui/CopyId';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { useStored } from '@/shared/ui/stored';
import { personName } from '../names';
import { useQuarantinedPacks } from '../queries';

/** Damaged packs of a dataset: those that its versions need, and those that were refused on their way in. */
export function QuarantineNotice({ name }: { name: string }) {
  const { t } = useTranslation();
  const packs = useQuarantinedPacks(name).data?.results ?? [];
  const [seen, setSeen] = useStored(`atom-refused-packs/${name}`, '');
  const stored = packs.filter(({ found_in }) => found_in === 'store');
  // A refused pack did no harm, so it is shown once.
  const refused = packs.filter(({ found_in, quarantined_at }) => found_in === 'upload' && quarantined_at > seen);
  return (
    <>
      {stored.length > 0 && (
        <Notice
          color="red"
          packs={stored}
          title={t('datasets.damaged', { count: stored.length })}
          next={t('datasets.damagedNext')}
          name={name}
        />
      )}
      {refused.length > 0 && (
        <Notice
          color="orange"
          packs={refused}
          title={t('datasets.refused', { count: refused.length })}
          next={t('datasets.refusedNext')}
          name={name}
          onClose={() => setSeen(refused[0]?.quarantined_at ?? '')}
        />
      )}
    </>
  );
}

interface NoticeProps {
  color: string;
  title: string;
  next: string;
  packs: readonly QuarantinedPack[];
  name: string;
  onClose?: () => void;
}

function Notice({ color, title, next, packs, name, onClose }: NoticeProps) {
  const { t } = useTranslation();
  return (
    <Alert
      color={color}
      icon={<IconAlertTriangle size={18} />}
      mb="sm"
      py="xs"
      title={title}
      role="alert"
      withCloseButton={onClose !== undefined}
      closeButtonLabel={t('common.close')}
      onClose={onClose}
    >
      <List size="sm" mah={180} style={{ overflowY: 'auto' }} tabIndex={packs.length > 3 ? 0 : undefined}>
        {packs.map((pack) => (
          <List.Item key={pack.digest}>
            <PackLine pack={pack} />
          </List.Item>
        ))}
      </List>
      <Text size="sm" my={6}>
        {next}
      </Text>
      <CommandLine command={`atom data push ./${name} ${name}`} />
    </Alert>
  );
}

function PackLine({ pack }: { pack: QuarantinedPack }) {
  const { t } = useTranslation();
  const { digest, quarantined_at, push, files_count, paths, reason } = pack;
  return (
    <>
      {t('datasets.pack')} <CopyId value={digest} chars={12} /> · {t('datasets.quarantined')}{' '}
      <RelativeTime at={quarantined_at} /> · {t('datasets.pushedBy', { name: personName(push.created_by) || '–' })}{' '}
      <RelativeTime at={push.created_at} />
      {files_count > 0 && (
        <Text size="xs">{t('datasets.damagedFiles', { count: files_count, paths: paths.join(', ') })}</Text>
      )}
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {reason}
      </Text>
    </>
  );
}
