import { ActionIcon, Button, Popover, Slider, Stack, Text, Tooltip } from '@mantine/core';
import { IconBrightness } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { type PictureLook, PLAIN } from './look';

/** How bright and how sharp in contrast the picture is shown; its file does not change. */
export function Brightness({ look, onChange }: { look: PictureLook; onChange: (look: PictureLook) => void }) {
  const { t } = useTranslation();
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label={t('labeling.objects.look')}>
          <ActionIcon variant="default" size="lg" aria-label={t('labeling.objects.look')}>
            <IconBrightness size={16} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={4} w={200}>
          {(['brightness', 'contrast'] as const).map((part) => (
            <div key={part}>
              <Text size="xs">{t(`labeling.objects.${part}`)}</Text>
              <Slider
                min={20}
                max={300}
                step={10}
                value={look[part]}
                label={(value) => `${value} %`}
                thumbLabel={t(`labeling.objects.${part}`)}
                onChange={(value) => onChange({ ...look, [part]: value })}
              />
            </div>
          ))}
          <Button size="compact-xs" variant="default" mt={6} onClick={() => onChange(PLAIN)}>
            {t('labeling.objects.plain')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
