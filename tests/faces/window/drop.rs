//! Files dropped on the window by XDND, version 5, as file managers do.

use super::stage::{Session, folder, keep};
use crate::desktop::Desktop;
use sinew::app::report::Event as Told;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::*;
use x11rb::wrapper::ConnectionExt as _;

/// Drops files on a window at a pixel of the screen.
pub fn drop_files(desktop: &Desktop, target: Window, at: [i16; 2], uris: &str) {
    let c = &desktop.connection;
    let source = c.generate_id().unwrap();
    let aux = CreateWindowAux::new();
    c.create_window(0, source, desktop.root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &aux).unwrap();
    let atom = |name: &str| desktop.atom(name);
    let (selection, list, copy) = (atom("XdndSelection"), atom("text/uri-list"), atom("XdndActionCopy"));
    c.set_selection_owner(source, selection, x11rb::CURRENT_TIME).unwrap();
    let tell = |name: &str, data: [u32; 5]| {
        desktop.send(target, ClientMessageEvent::new(32, target, atom(name), data));
    };
    tell("XdndEnter", [source, 5 << 24, list, 0, 0]);
    let place = (at[0] as u32) << 16 | at[1] as u32;
    tell("XdndPosition", [source, 0, place, x11rb::CURRENT_TIME, copy]);
    let (status, finished) = (atom("XdndStatus"), atom("XdndFinished"));
    let (mut accepted, mut served, mut dropped) = (false, false, false);
    loop {
        match c.wait_for_event().unwrap() {
            Event::SelectionRequest(ask) => {
                assert_eq!((ask.selection, ask.target), (selection, list), "uris are asked for");
                let bytes = uris.as_bytes();
                c.change_property8(PropMode::REPLACE, ask.requestor, ask.property, list, bytes).unwrap();
                let notify = SelectionNotifyEvent {
                    response_type: SELECTION_NOTIFY_EVENT,
                    sequence: 0,
                    time: ask.time,
                    requestor: ask.requestor,
                    selection,
                    target: list,
                    property: ask.property,
                };
                c.send_event(false, ask.requestor, EventMask::NO_EVENT, notify).unwrap();
                c.flush().unwrap();
                served = true;
            }
            Event::ClientMessage(m) if m.type_ == status => {
                accepted = m.data.as_data32()[1] & 1 == 1;
                assert!(accepted, "files are refused");
            }
            Event::ClientMessage(m) if m.type_ == finished => break,
            _ => {}
        }
        if accepted && served && !dropped {
            dropped = true;
            tell("XdndDrop", [source, 0, x11rb::CURRENT_TIME, 0, 0]);
        }
    }
    c.destroy_window(source).unwrap();
    c.flush().unwrap();
}

#[test]
fn a_file_dropped_on_an_empty_window_is_opened() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    // The file name contains characters that a URI must escape.
    let path = folder.path().join("my héro.glb");
    std::fs::rename(folder.path().join("capsule.glb"), &path).unwrap();
    let mut s = Session::start(&desktop, folder.path(), &["--forget"]);
    s.app.rest();
    keep(&desktop.screenshot(), "empty");
    let uri = format!("file://{}/my%20h%C3%A9ro.glb\r\n", folder.path().display());
    let corner = desktop.corner(s.window);
    drop_files(&desktop, s.window, [corner[0] + 400, corner[1] + 300], &uri);
    let loaded = s.app.event("the character", |e| match e {
        Told::Loaded(path) => Some(path.clone()),
        _ => None,
    });
    assert_eq!(loaded, path);
    s.app.rest();
    keep(&desktop.screenshot(), "dropped");
    // A dropped text file causes an error message and leaves the document unchanged.
    std::fs::write(folder.path().join("letter.txt"), "Dear reader,\n").unwrap();
    let hash = s.app.hash();
    let uri = format!("file://{}/letter.txt\r\n", folder.path().display());
    drop_files(&desktop, s.window, [corner[0] + 400, corner[1] + 300], &uri);
    s.app.until("the trouble", |t| t.message.contains("letter.txt"));
    assert_eq!(s.app.hash(), hash);
    s.close(&desktop);
}
