import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';
import { Dialog } from '@/shared/ui/Dialog';
import type { AttributesOf } from './of';

interface PullDialogProps {
  name: string;
  source: string;
  of: AttributesOf;
  onClose: () => void;
}

/** A text as a POSIX shell takes it, whatever is in it. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The command that copies the chosen files to a folder. */
export function PullDialog({ name, source, of: { paths, where, view }, onClose }: PullDialogProps) {
  const { t } = useTranslation();
  const words = ['atom', 'data', 'pull', `${name}@${source}`, `./${name}`];
  for (const prefix of paths) words.push('--prefix', prefix);
  if (view) words.push('--view', view);
  if (where) words.push('--where', where);
  return (
    <Dialog opened onClose={onClose} title={t('versioning.pullTitle')}>
      <Stack gap="xs">
        <Text size="sm">{t('versioning.pullHint')}</Text>
        <CommandLine command={words.map(shellWord).join(' ')} />
        <Text size="xs" c="dimmed">
          {t('datasets.pullStays')}
        </Text>
      </Stack>
    </Dialog>
  );
}
