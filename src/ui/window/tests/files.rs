//! Tests of files: refreshed lists, typed and pasted paths, questions and the save dialog.

use super::*;
use crate::ui::palette::FileList;
use crate::workbench::Request;
use std::path::Path;

impl Table {
    fn asks(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.desk.output_mut().asks)
    }

    /// Returns a window that shows the lists of files.
    fn with_files() -> Self {
        let mut t = Self::new();
        t.desk.facts.files = FileList { folder: "/home/me".into(), ..FileList::default() };
        t.bench.run_command(Command::Files);
        t
    }

    /// Runs a frame with one event and returns the requests to the front end.
    pub(super) fn send(&mut self, event: Event) -> Vec<Ask> {
        self.input.events.push(event);
        self.frame();
        self.asks()
    }

    fn press_key(&mut self, key: Key) -> Vec<Ask> {
        self.key(key, Modifiers::NONE);
        self.asks()
    }
}

fn lists(folder: &str) -> Vec<Ask> {
    vec![Ask::List(folder.into())]
}

fn opens(path: &str) -> Vec<Ask> {
    vec![Ask::Editor(Request::Open(path.into()))]
}

#[test]
fn a_folder_is_read_again_when_its_list_opens_when_the_window_comes_back_and_by_a_button() {
    let mut t = Table::with_files();
    t.frame();
    assert_eq!(t.asks(), lists("/home/me"));
    t.frames(3);
    assert_eq!(t.asks(), []);
    t.send(Event::WindowFocused(false));
    assert_eq!(t.send(Event::WindowFocused(true)), lists("/home/me"));
    let at = t.words_at("Refresh");
    t.to(at);
    t.button(PointerButton::Primary, true);
    t.button(PointerButton::Primary, false);
    assert_eq!(t.asks(), lists("/home/me"));
    // A closed list is not refreshed.
    t.bench.run_command(Command::Files);
    t.frame();
    t.send(Event::WindowFocused(false));
    assert_eq!(t.send(Event::WindowFocused(true)), []);
}

#[test]
fn a_path_is_typed_pasted_or_dropped_as_text_and_opened() {
    let mut t = Table::with_files();
    t.frames(3);
    t.click_at(t.words_at("/home/me"));
    t.asks();
    assert_eq!(t.send(Event::Paste("file:///data/my%20hero.glb".into())), [], "it is in the text");
    assert_eq!(t.press_key(Key::Enter), opens("/data/my hero.glb"));
    t.frames(3);
    t.click_at(t.words_at("file:///data/my%20hero.glb"));
    t.write("walks");
    assert_eq!(t.press_key(Key::Enter), opens("/home/me/walks"));
    // After a folder is opened, the text field shows the folder's path.
    t.desk.facts.files.follow(FileList { folder: "/home/me/walks".into(), ..FileList::default() });
    t.frames(3);
    t.words_at("/home/me/walks");
    // Outside of text fields, pasting opens only absolute paths.
    assert_eq!(t.send(Event::Paste("/data/hero.glb\n".into())), opens("/data/hero.glb"));
    assert_eq!(t.send(Event::Paste("some words".into())), []);
}

#[test]
fn letters_over_a_list_of_files_are_a_path_and_no_shortcuts() {
    let mut t = Table::with_files();
    t.frames(3);
    t.asks();
    let (hash, preferences) = (t.hash(), t.bench.preferences().clone());
    t.write("/data/n1");
    assert_eq!((t.hash(), t.bench.preferences()), (hash, &preferences));
    assert_eq!(t.press_key(Key::Enter), opens("/data/n1"));
    // Escape leaves the field; another Escape closes the list.
    t.frames(2);
    t.asks();
    t.write("walks");
    t.press_key(Key::Escape);
    assert!(t.bench.preferences().files);
    t.frames(2);
    t.words_at("/home/me");
    t.press_key(Key::Escape);
    assert!(!t.bench.preferences().files);
    // Then letters are shortcuts again.
    t.key(Key::M, Modifiers::NONE);
    assert_ne!(t.bench.preferences().mirror, preferences.mirror);
}

#[test]
fn where_to_save_is_asked_by_folder_and_name() {
    let mut t = Table::new();
    let hash = t.hash();
    t.desk.ask_where(Writes::Project, Path::new("/home/me/hero.project.glb"));
    t.frames(2);
    assert_eq!(t.asks(), []);
    assert_eq!(t.desk.asks_where(), Some("Save the project as"));
    // In the save dialog, keys are no shortcuts; Escape cancels.
    t.key(Key::Num7, Modifiers::NONE);
    t.key(Key::I, Modifiers::NONE);
    assert_eq!(t.press_key(Key::Escape), [Ask::WriteNothing]);
    assert_eq!((t.desk.asks_where(), t.hash()), (None, hash));
    // Enter accepts the proposed path.
    let project = |path: &str| vec![Ask::Write(Writes::Project, path.into())];
    t.desk.ask_where(Writes::Project, Path::new("/home/me/hero.project.glb"));
    t.frames(2);
    t.asks();
    assert_eq!(t.press_key(Key::Enter), project("/home/me/hero.project.glb"));
    // Typing replaces the proposed name; Enter in the folder field first lists the new folder.
    t.desk.ask_where(Writes::Project, Path::new("/home/me/hero.project.glb"));
    t.frames(2);
    t.asks();
    t.write("dance");
    t.click_at(t.words_at("/home/me"));
    t.key(Key::End, Modifiers::NONE);
    t.input.events.push(Event::Text("/walks".into()));
    t.frame();
    assert_eq!(t.press_key(Key::Enter), lists("/home/me/walks"));
    t.frames(3);
    assert_eq!(t.press_key(Key::Enter), project("/home/me/walks/dance.project.glb"));
    // The button has the effect of Enter.
    t.desk.ask_where(Writes::Posed, Path::new("/home/me/hero.posed.glb"));
    t.frames(2);
    t.asks();
    // An export also asks for its error; the choice stays.
    t.click_at(t.words_at("All frames, 1 mm"));
    assert_eq!((t.bench.preferences().export_error, t.asks()), (Some(1.0), vec![]));
    let at = t.words_at("Export");
    t.to(at);
    t.button(PointerButton::Primary, true);
    t.button(PointerButton::Primary, false);
    assert_eq!(t.asks(), [Ask::Write(Writes::Posed, "/home/me/hero.posed.glb".into())]);
}

#[test]
fn what_would_lose_something_stands_apart_and_neither_enter_nor_escape_is_it() {
    let question = || Question {
        title: "Recover what was not saved?".into(),
        text: "42 edits".into(),
        answers: vec!["Recover".into(), "Decide later".into()],
        discards: Some("Discard".into()),
    };
    let click = |t: &mut Table, words: &str| {
        t.to(t.words_at(words));
        t.button(PointerButton::Primary, true);
        t.button(PointerButton::Primary, false);
    };
    let mut t = Table::new();
    let mut answer = |ask: &dyn Fn(&mut Table)| {
        t.desk.facts.question = Some(question());
        t.frames(2);
        ask(&mut t);
        let asks = t.asks();
        t.frame();
        asks
    };
    assert_eq!(answer(&|t| t.key(Key::Enter, Modifiers::NONE)), [Ask::Answer(0)]);
    assert_eq!(answer(&|t| t.key(Key::Escape, Modifiers::NONE)), [Ask::Answer(1)]);
    assert_eq!(answer(&|t| click(t, "Discard")), [Ask::Answer(2)]);
    assert_eq!(answer(&|t| click(t, "Recover")), [Ask::Answer(0)]);
    t.desk.facts.question = Some(question());
    t.frames(2);
    let [discard, recover] = ["Discard", "Recover"].map(|w| t.words_at(w)[0]);
    assert!((discard - recover).abs() > 150.0, "{discard} {recover}");
}
