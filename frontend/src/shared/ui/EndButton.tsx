import { Button } from '@mantine/core';
import { focusNeighbour } from './focusBack';

interface EndButtonProps {
  label: string;
  /** Names the button for screen readers: whose row it is in. */
  name: string;
  onEnd: () => void;
}

/** The button of a row that takes its row away. */
export function EndButton({ label, name, onEnd }: EndButtonProps) {
  return (
    <Button
      size="compact-xs"
      variant="light"
      color="red"
      aria-label={name}
      data-takes-row
      onClick={(event) => {
        focusNeighbour(event.currentTarget);
        onEnd();
      }}
    >
      {label}
    </Button>
  );
}
