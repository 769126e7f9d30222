import type { Point } from './model';
import type { Session } from './session';
import { insidePicture } from './tools/tool';
import { toPicture } from './view';

/** While it is on, a press or Enter names a place of the picture instead of drawing. */
export class Placing {
  onPlace: ((at: Point) => void) | null = null;
  private readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  /** Whether the press of the main button at this point of the screen named a place. */
  press(screen: Point, button: number): boolean {
    if (!this.onPlace || button !== 0) return false;
    this.onPlace(insidePicture(toPicture(this.session.view, screen), this.session.editor.document));
    return true;
  }

  /** Enter names the place under the mouse, or the middle of the view where there is none. */
  key(key: string): boolean {
    const { pointer, size } = this.session;
    return key === 'Enter' && this.press(pointer?.screen ?? [size.width / 2, size.height / 2], 0);
  }
}
