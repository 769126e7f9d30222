import { Group, Kbd, Modal, Stack, Table, Text } from '@mantine/core';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { palette } from '@/app/shell/palette.en';
import { addWords } from '@/i18n';
import { useFocusBack } from '@/shared/ui/focusBack';
import { type Shortcut, useRegisteredShortcuts } from '@/shared/ui/shortcuts';

addWords({ palette });

/** Keys that every list, menu and dialog handles itself, so that no component registers them. */
const BUILT_IN = [
  ['ArrowDown ArrowUp', 'row'],
  ['J K', 'row'],
  ['Enter', 'open'],
  ['Tab', 'next'],
  ['Escape', 'close'],
  ['Home End', 'ends'],
] as const;

export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  useFocusBack();
  const all = useRegisteredShortcuts();
  const page = all.filter((shortcut) => shortcut.scope !== 'everywhere');
  const lists = BUILT_IN.map(([keys, word]) => ({ keys, label: t(`palette.keys.${word}`), run: () => {} }));
  const everywhere = all.filter((shortcut) => shortcut.scope === 'everywhere');
  return (
    <Modal opened onClose={onClose} title={t('shell.shortcuts')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack>
        {page.length > 0 && <Section title={t('shell.thisPage')} shortcuts={page} />}
        <Section title={t('shell.everywhere')} shortcuts={everywhere} />
        <Section title={t('palette.keys.lists')} shortcuts={lists} alternatives />
      </Stack>
    </Modal>
  );
}

interface SectionProps {
  title: string;
  shortcuts: readonly Shortcut[];
  /** The keys do two things, and do not follow each other. */
  alternatives?: boolean;
}

function Section({ title, shortcuts, alternatives = false }: SectionProps) {
  return (
    <section aria-label={title}>
      <Text size="xs" c="dimmed" fw={600}>
        {title}
      </Text>
      <Table verticalSpacing={4} withRowBorders={false}>
        <Table.Tbody>
          {shortcuts.map((shortcut) => (
            <Table.Tr key={`${shortcut.keys}${shortcut.label}`}>
              <Table.Td pl={0}>{shortcut.label}</Table.Td>
              <Table.Td pr={0} ta="right">
                <Keys keys={shortcut.keys} alternatives={alternatives} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

export function Keys({ keys, alternatives = false }: { keys: string; alternatives?: boolean }) {
  const { t } = useTranslation();
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex">
      {keys.split(' ').map((part, index) => (
        <Fragment key={part}>
          {index > 0 && !alternatives && (
            <Text size="xs" c="dimmed" span>
              {t('shell.thenKey')}
            </Text>
          )}
          <Kbd size="xs">
            {part
              .replace('mod+', 'Ctrl ')
              .replace('ArrowRight', '→')
              .replace('ArrowLeft', '←')
              .replace('ArrowUp', '↑')
              .replace('ArrowDown', '↓')}
          </Kbd>
        </Fragment>
      ))}
    </Group>
  );
}
