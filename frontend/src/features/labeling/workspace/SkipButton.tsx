import { ActionIcon, Button, Group, Kbd, Menu } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { SKIP_REASONS } from '../skipReasons';

/** Passes the image under the cursor on; the arrow beside it says why. */
export function SkipButton({ disabled, onSkip }: { disabled: boolean; onSkip: (reason: string) => void }) {
  const { t } = useTranslation();
  return (
    <Group gap={0} wrap="nowrap">
      <Button
        variant="default"
        disabled={disabled}
        rightSection={<Kbd size="xs">S</Kbd>}
        style={{ borderTopRightRadius: 0, borderBottomRightRadius: 0 }}
        // The focus stays with the images: the next Enter submits them.
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onSkip('')}
      >
        {t('labeling.skip.skip')}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            variant="default"
            size={36}
            disabled={disabled}
            aria-label={t('labeling.skip.withReason')}
            style={{ borderTopLeftRadius: 0, borderBottomLeftRadius: 0, borderLeft: 0 }}
          >
            <IconChevronDown size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {SKIP_REASONS.map((reason) => (
            <Menu.Item key={reason} onClick={() => onSkip(reason)}>
              {t(`labeling.skip.reason.${reason}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
