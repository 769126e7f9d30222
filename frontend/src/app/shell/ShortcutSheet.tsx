import { Group, Kbd, Modal, Stack, Table, Text } from '@mantine/core';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { useFocusBack } from '@/shared/focusBack';
import { type Shortcut, useRegisteredShortcuts } from '@/shared/shortcuts';

export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  useFocusBack();
  const all = useRegisteredShortcuts();
  const page = all.filter((shortcut) => shortcut.scope !== 'everywhere');
  const everywhere = all.filter((shortcut) => shortcut.scope === 'everywhere');
  return (
    <Modal opened onClose={onClose} title={t('shell.shortcuts')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Stack>
        {page.length > 0 && <Section title={t('shell.thisPage')} shortcuts={page} />}
        <Section title={t('shell.everywhere')} shortcuts={everywhere} />
      </Stack>
    </Modal>
  );
}

function Section({ title, shortcuts }: { title: string; shortcuts: readonly Shortcut[] }) {
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
                <Keys keys={shortcut.keys} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

export function Keys({ keys }: { keys: string }) {
  const { t } = useTranslation();
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex">
      {keys.split(' ').map((part, index) => (
        <Fragment key={part}>
          {index > 0 && (
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
